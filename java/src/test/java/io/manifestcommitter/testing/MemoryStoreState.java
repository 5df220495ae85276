package io.manifestcommitter.testing;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.apache.hadoop.fs.Path;

/**
 * What one in-memory store holds, which requests it got, and how it is told to fail. All methods
 * are atomic.
 *
 * <p>A {@link Fault} sees every request, numbered from 1, and says what happens to it.
 */
public final class MemoryStoreState {
  private final TreeMap<String, Node> nodes = new TreeMap<>();
  private final List<String> requests = new ArrayList<>();
  private Fault fault = (number, operation, path) -> Fate.NORMAL;
  private long clock = 1_700_000_000_000L;
  private long etags;

  /** What happens to a request. */
  public enum Fate {
    /** It is done and answered. */
    NORMAL,
    /** It is not done, and fails. */
    FAILS_BEFORE,
    /** It is done, and the answer is lost. */
    FAILS_AFTER,
    /** A rename that is not done and answers false; any other request fails before. */
    ANSWERS_FALSE,
    /** A rename that is done and answers false; any other request fails after. */
    DONE_ANSWERS_FALSE
  }

  /** Decides about requests. Called under the store's lock. */
  @FunctionalInterface
  public interface Fault {
    /** What happens to the request. */
    Fate fate(int number, String operation, String path);
  }

  /** A file or directory. */
  static final class Node {
    final byte[] content;
    String etag = "";
    long time;

    private Node(byte[] content) {
      this.content = content;
    }

    static Node file(byte[] content) {
      return new Node(content);
    }

    static Node directory() {
      return new Node(null);
    }

    boolean isDirectory() {
      return content == null;
    }
  }

  /** Empties the store and forgets requests and faults. */
  public synchronized void clear() {
    nodes.clear();
    nodes.put("/", Node.directory());
    requests.clear();
    fault = (number, operation, path) -> Fate.NORMAL;
  }

  /** Puts a file there without a request. */
  public synchronized void write(String path, String content) {
    put(path, Node.file(content.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
    for (int slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      nodes.putIfAbsent(path.substring(0, slash), Node.directory());
    }
  }

  /** Makes a directory without a request. */
  public synchronized void mkdirs(String path) {
    write(path + "/x", "");
    nodes.remove(path + "/x");
  }

  /** Removes a file or tree without a request. */
  public synchronized void remove(String path) {
    removeTree(path);
  }

  /** The content of all files by path, without a request. */
  public synchronized NavigableMap<String, String> files() {
    NavigableMap<String, String> files = new TreeMap<>();
    nodes.forEach(
        (path, node) -> {
          if (!node.isDirectory()) {
            files.put(path, new String(node.content, java.nio.charset.StandardCharsets.UTF_8));
          }
        });
    return files;
  }

  /** All paths, directories too, without a request. */
  public synchronized List<String> paths() {
    return new ArrayList<>(nodes.keySet());
  }

  /** The raw bytes of a file, without a request. */
  public synchronized byte[] bytes(String path) {
    return nodes.get(path).content.clone();
  }

  /** Forgets the requests so far; the next is number 1. */
  public synchronized void resetRequests() {
    requests.clear();
  }

  /** The requests so far, as "operation path". */
  public synchronized List<String> requests() {
    return new ArrayList<>(requests);
  }

  /** Sets what happens to requests from now on. */
  public synchronized void onRequest(Fault newFault) {
    fault = newFault;
  }

  synchronized <T> T request(String operation, Path path, Callable<T> action) throws IOException {
    Fate fate = begin(operation, path, path.toUri().getPath());
    if (fate == Fate.FAILS_BEFORE || fate == Fate.ANSWERS_FALSE) {
      throw new IOException("injected before " + operation + " " + path);
    }
    T result = call(action);
    if (fate != Fate.NORMAL) {
      throw new IOException("injected after " + operation + " " + path);
    }
    return result;
  }

  synchronized boolean requestRename(Path source, Path destination, Callable<Boolean> action)
      throws IOException {
    Fate fate =
        begin("rename", source, source.toUri().getPath() + " -> " + destination.toUri().getPath());
    switch (fate) {
      case FAILS_BEFORE:
        throw new IOException("injected before rename " + source);
      case ANSWERS_FALSE:
        return false;
      case NORMAL:
        return call(action);
      default:
        call(action);
        if (fate == Fate.DONE_ANSWERS_FALSE) {
          return false;
        }
        throw new IOException("injected after rename " + source);
    }
  }

  private Fate begin(String operation, Path path, String shown) {
    requests.add(operation + " " + shown);
    return fault.fate(requests.size(), operation, path.toUri().getPath());
  }

  private static <T> T call(Callable<T> action) throws IOException {
    try {
      return action.call();
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  Node get(String path) {
    return nodes.get(path);
  }

  void put(String path, Node node) {
    if (!node.isDirectory()) {
      node.etag = "etag-" + ++etags;
      node.time = ++clock;
    }
    nodes.put(path, node);
  }

  void move(String source, String target) {
    TreeMap<String, Node> moved = new TreeMap<>();
    moved.put(target, nodes.remove(source));
    Map<String, Node> below = nodes.subMap(source + "/", source + "0");
    below.forEach((path, node) -> moved.put(target + path.substring(source.length()), node));
    below.clear();
    nodes.putAll(moved);
  }

  void removeTree(String path) {
    nodes.remove(path);
    nodes.subMap(path + "/", path + "0").clear();
  }

  NavigableMap<String, Node> children(String directory) {
    String prefix = directory.equals("/") ? "/" : directory + "/";
    TreeMap<String, Node> children = new TreeMap<>();
    nodes
        .tailMap(prefix, false)
        .forEach(
            (path, node) -> {
              if (path.startsWith(prefix) && path.indexOf('/', prefix.length()) < 0) {
                children.put(path, node);
              }
            });
    return children;
  }
}
