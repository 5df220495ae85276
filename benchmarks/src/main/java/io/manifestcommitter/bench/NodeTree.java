// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.NavigableMap;
import java.util.function.Supplier;
import org.apache.hadoop.fs.ParentNotDirectoryException;

/**
 * The directories of a store. Renames as ADLS and HDFS do: a file or directory atomically, never
 * onto a file, into a directory that is there, and only where the parent exists. Paths are
 * absolute, without scheme. Callers hold the store's lock.
 */
final class NodeTree<N extends NodeTree.Node<N>> {
  private final Supplier<N> newDirectory;
  private final N root;

  NodeTree(Supplier<N> newDirectory) {
    this.newDirectory = newDirectory;
    this.root = newDirectory.get();
  }

  /** The directory at a path, made with its parents if it is not there. */
  N directory(String path) throws ParentNotDirectoryException {
    N node = root;
    for (int start = 1; start < path.length(); start = end(path, start) + 1) {
      node =
          node.children()
              .computeIfAbsent(
                  path.substring(start, end(path, start)), unused -> newDirectory.get());
      if (!node.isDirectory()) {
        throw new ParentNotDirectoryException(path);
      }
    }
    return node;
  }

  /** What is at a path; null if there is nothing. */
  N lookUp(String path) {
    N node = root;
    for (int start = 1; start < path.length(); start = end(path, start) + 1) {
      if (!node.isDirectory()) {
        return null;
      }
      node = node.children().get(path.substring(start, end(path, start)));
      if (node == null) {
        return null;
      }
    }
    return node;
  }

  /** Renames what is at {@code source}; says whether it was done. */
  boolean rename(String source, String destination) {
    N node = lookUp(source);
    if (node == null || destination.startsWith(source + "/")) {
      return false;
    }
    String target = destination;
    N existing = lookUp(target);
    if (existing != null) {
      target = destination + "/" + name(source);
      if (!existing.isDirectory() || lookUp(target) != null) {
        return false;
      }
    }
    N parent = lookUp(parent(target));
    if (parent == null || !parent.isDirectory()) {
      return false;
    }
    parent.children().put(name(target), node);
    remove(source);
    return true;
  }

  /** Removes what is at a path. */
  void remove(String path) {
    lookUp(parent(path)).children().remove(name(path));
  }

  private static int end(String path, int start) {
    int slash = path.indexOf('/', start);
    return slash < 0 ? path.length() : slash;
  }

  /** The path without its last component. */
  static String parent(String path) {
    int slash = path.lastIndexOf('/');
    return slash <= 0 ? "/" : path.substring(0, slash);
  }

  /** The last component of a path. */
  static String name(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** A file or directory. */
  interface Node<N> {
    boolean isDirectory();

    /** The entries of a directory, to look at and to change. */
    NavigableMap<String, N> children();
  }
}
