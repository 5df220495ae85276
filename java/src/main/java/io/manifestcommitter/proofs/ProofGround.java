// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** A directory in which one question is tried, and the store that it is on. */
final class ProofGround {
  private static final int LONGEST = 1_000;

  final Store store;
  final FileSystem fs;
  private final Path root;

  ProofGround(Store store, FileSystem fs, Path root) {
    this.store = store;
    this.fs = fs;
    this.root = root;
  }

  /** A path in the directory; the directory itself for an empty name. */
  Path at(String name) {
    return StorePaths.resolve(root, name);
  }

  void mkdirs(String name) throws IOException {
    store.mkdirs(at(name));
  }

  RenameResult renameDirectory(String source, String destination) throws IOException {
    return store.renameDirectory(at(source), at(destination));
  }

  /** Renames a file as somebody saw it. */
  RenameResult renameFile(StoreEntry seen, String destination) throws IOException {
    return store.renameFile(seen.movedTo(at(destination)));
  }

  /** Does several things at the same time; their results, in order. */
  <T> List<T> sideBySide(List<Callable<T>> actions) throws IOException, InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(actions.size());
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> result : threads.invokeAll(actions)) {
        results.add(result.get());
      }
      return results;
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  void write(String name, String content) throws IOException {
    store.write(at(name), out -> out.write(content.getBytes(StandardCharsets.UTF_8)));
  }

  /**
   * What is in a directory and below it: files with their contents, directories with a slash; all
   * there is for an empty name.
   */
  Map<String, String> tree(String directory) throws IOException {
    Map<String, String> tree = new TreeMap<>();
    addTree(at(directory), "", tree);
    return tree;
  }

  private void addTree(Path directory, String prefix, Map<String, String> tree) throws IOException {
    for (StoreEntry entry : entries(directory)) {
      String name = prefix + entry.name();
      if (entry.isDirectory()) {
        tree.put(name + "/", "");
        addTree(entry.path(), name + "/", tree);
      } else {
        tree.put(name, new String(store.read(entry.path(), LONGEST), StandardCharsets.UTF_8));
      }
    }
  }

  /** What a listing shows; nothing where there is no directory. */
  private List<StoreEntry> entries(Path directory) throws IOException {
    List<StoreEntry> entries = new ArrayList<>();
    store.listIfThere(directory, entries::add);
    return entries;
  }

  /** A file as the listing of its directory shows it. */
  Optional<StoreEntry> listed(String file) throws IOException {
    Path path = at(file);
    return entries(path.getParent()).stream()
        .filter(entry -> entry.path().equals(path))
        .findFirst();
  }

  /** As {@link #listed}, of a file that was written before. */
  StoreEntry known(String file) throws IOException {
    return listed(file).orElseThrow(() -> new IOException("No listing shows " + at(file)));
  }
}
