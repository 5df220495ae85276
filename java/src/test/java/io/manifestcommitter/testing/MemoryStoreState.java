package io.manifestcommitter.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import org.apache.hadoop.fs.Path;

/**
 * What one in-memory store holds, which requests it got, and how it is told to fail. All methods
 * are atomic.
 *
 * <p>A {@link Fault} sees every request, numbered from 1, and says what happens to it. A {@link
 * Gate} decides when a request may go on.
 */
public final class MemoryStoreState {
  /** The character that sorts right after the slash. */
  private static final String AFTER_SLASH = "0";

  private static final Fault NO_FAULT = (number, operation, path) -> Fate.NORMAL;

  private final TreeMap<String, Node> nodes = new TreeMap<>();
  private final List<String> requests = new ArrayList<>();
  private Fault fault = NO_FAULT;
  private volatile Gate gate = (client, operation, path) -> {};
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
    DONE_ANSWERS_FALSE,
    /**
     * Fails in its middle: the deletion of a tree has deleted the first half of its files, the
     * creation of a file has written half of its content; any other request fails before.
     */
    HALF_DONE
  }

  /** Decides about requests. Called under the store's lock. */
  @FunctionalInterface
  public interface Fault {
    /** What happens to the request. */
    Fate fate(int number, String operation, String path);
  }

  /** Sees each request before it begins, in the thread that makes it, and may keep it waiting. */
  @FunctionalInterface
  public interface Gate {
    /**
     * Returns when the request may begin.
     *
     * @param client the name in the configuration of the filesystem that makes the request
     */
    void pass(String client, String operation, String path);
  }

  /** All that a store holds at one moment. */
  public static final class Snapshot {
    private final NavigableMap<String, Node> nodes;

    private Snapshot(Map<String, Node> nodes) {
      this.nodes = new TreeMap<>(nodes);
    }
  }

  /** A file or directory; not changed once it is in the store. */
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
    fault = NO_FAULT;
    gate = (client, operation, path) -> {};
  }

  /** All that the store holds now, without a request. */
  public synchronized Snapshot snapshot() {
    return new Snapshot(nodes);
  }

  /** Makes the store hold what it held then; forgets requests and faults. */
  public synchronized void restore(Snapshot snapshot) {
    clear();
    nodes.putAll(snapshot.nodes);
  }

  /** Puts a file there without a request. */
  public synchronized void write(String path, String content) {
    write(path, content.getBytes(StandardCharsets.UTF_8));
  }

  /** Puts a file there without a request. */
  public synchronized void write(String path, byte[] content) {
    put(path, Node.file(content.clone()));
    for (int slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      nodes.putIfAbsent(path.substring(0, slash), Node.directory());
    }
  }

  /** Lets time pass, in milliseconds of the store's clock. */
  public synchronized void passTime(long millis) {
    clock += millis;
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
            files.put(path, new String(node.content, StandardCharsets.UTF_8));
          }
        });
    return files;
  }

  /** All directories, without a request. */
  public synchronized List<String> directories() {
    List<String> directories = new ArrayList<>();
    nodes.forEach(
        (path, node) -> {
          if (node.isDirectory()) {
            directories.add(path);
          }
        });
    return directories;
  }

  /** All paths, directories too, without a request. */
  public synchronized List<String> paths() {
    return new ArrayList<>(nodes.keySet());
  }

  /** The raw bytes of a file, without a request. */
  public synchronized byte[] bytes(String path) {
    return nodes.get(path).content.clone();
  }

  /** Whether something is at the path, without a request. */
  public synchronized boolean exists(String path) {
    return nodes.containsKey(path);
  }

  /** Forgets the requests so far; the next is number 1. */
  public synchronized void resetRequests() {
    requests.clear();
  }

  /** The requests so far, as "operation path". */
  public synchronized List<String> requests() {
    return new ArrayList<>(requests);
  }

  /** How many requests of each operation there were so far. */
  public synchronized NavigableMap<String, Integer> requestsByOperation() {
    NavigableMap<String, Integer> counts = new TreeMap<>();
    requests.forEach(
        request -> counts.merge(request.substring(0, request.indexOf(' ')), 1, Integer::sum));
    return counts;
  }

  /** Lets all requests pass through a gate from now on. */
  public void gate(Gate newGate) {
    gate = newGate;
  }

  /** Lets all requests succeed from now on. */
  public synchronized void noFault() {
    fault = NO_FAULT;
  }

  /** Sets what happens to requests from now on. */
  public synchronized void onRequest(Fault newFault) {
    fault = newFault;
  }

  /**
   * Makes a request.
   *
   * @param half its effect where it fails in its middle
   */
  <T> T request(String client, String operation, Path path, Callable<T> action, Callable<T> half)
      throws IOException {
    gate.pass(client, operation, path.toUri().getPath());
    synchronized (this) {
      Fate fate = begin(operation, path, path.toUri().getPath());
      switch (fate) {
        case NORMAL:
          return call(action);
        case FAILS_BEFORE:
        case ANSWERS_FALSE:
          throw new IOException("injected before " + operation + " " + path);
        case HALF_DONE:
          call(half);
          throw new IOException("injected in the middle of " + operation + " " + path);
        default:
          call(action);
          throw new IOException("injected after " + operation + " " + path);
      }
    }
  }

  boolean requestRename(String client, Path source, Path destination, Callable<Boolean> action)
      throws IOException {
    String shown = source.toUri().getPath() + " -> " + destination.toUri().getPath();
    gate.pass(client, "rename", shown);
    synchronized (this) {
      Fate fate = begin("rename", source, shown);
      switch (fate) {
        case FAILS_BEFORE:
        case HALF_DONE:
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
    Map<String, Node> below = nodes.subMap(source + "/", source + AFTER_SLASH);
    below.forEach((path, node) -> moved.put(target + path.substring(source.length()), node));
    below.clear();
    nodes.putAll(moved);
  }

  void removeTree(String path) {
    nodes.remove(path);
    nodes.subMap(path + "/", path + AFTER_SLASH).clear();
  }

  /** Deletes the first half of a directory's files. */
  void removeHalf(String directory) {
    List<String> files = new ArrayList<>();
    nodes
        .subMap(directory + "/", directory + AFTER_SLASH)
        .forEach(
            (path, node) -> {
              if (!node.isDirectory()) {
                files.add(path);
              }
            });
    files.subList(0, (files.size() + 1) / 2).forEach(nodes::remove);
  }

  boolean hasChildren(String directory) {
    String first = nodes.higherKey(prefix(directory));
    return first != null && first.startsWith(prefix(directory));
  }

  /** Visits the direct children, and leaps over what is below them. */
  void forEachChild(String directory, BiConsumer<String, Node> visitor) {
    String prefix = prefix(directory);
    Map.Entry<String, Node> next = nodes.higherEntry(prefix);
    while (next != null && next.getKey().startsWith(prefix)) {
      int slash = next.getKey().indexOf('/', prefix.length());
      if (slash < 0) {
        visitor.accept(next.getKey(), next.getValue());
        next = nodes.higherEntry(next.getKey());
      } else {
        next = nodes.ceilingEntry(next.getKey().substring(0, slash) + AFTER_SLASH);
      }
    }
  }

  private static String prefix(String directory) {
    return directory.endsWith("/") ? directory : directory + "/";
  }
}
