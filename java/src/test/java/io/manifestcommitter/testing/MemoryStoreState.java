// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import io.manifestcommitter.layout.StagingRoot;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;

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

  private final TreeMap<String, Node> nodes = new TreeMap<>();

  /** Those that were neither completed nor aborted, by id. */
  private final TreeMap<String, MemoryUploads.Begun> uploads = new TreeMap<>();

  /** Of folders, in the order in which they began; one that is done is forgotten. */
  private final TreeMap<String, FolderRename> renames = new TreeMap<>();

  private OptionalInt renameLength = OptionalInt.empty();

  /** Paths at which a condition was not met since the last write under one. */
  private final Set<String> contended = new HashSet<>();

  private final Map<String, String> completed = new HashMap<>();
  private boolean remembersCompletions;

  private final List<String> requests = new ArrayList<>();
  private Fault fault = Fault.NONE;
  private volatile Gate gate = (client, operation, path) -> {};
  private long clock = 1_700_000_000_000L;
  private long etags;

  /** Of directories: their times tell one change from another, and not when it was. */
  private long changes;

  private Shortage shortage = Shortage.NONE;

  /** Sees each request before it begins, in the thread that makes it, and may keep it waiting. */
  @FunctionalInterface
  public interface Gate {
    /**
     * Returns when the request may begin.
     *
     * @param client the name in the configuration of the filesystem that makes the request
     */
    void pass(String client, String operation, String path);

    /** A request that passed has had its effect, or has failed. */
    default void done() {}
  }

  /** All that a store holds at one moment. */
  public record Snapshot(
      NavigableMap<String, Node> nodes,
      NavigableMap<String, MemoryUploads.Begun> uploads,
      NavigableMap<String, FolderRename> renames,
      long clock) {}

  /** A file or directory; not changed once it is in the store. */
  static final class Node {
    final byte[] content;
    String etag = "";
    long time;

    /** Whether it belongs to somebody else than the store's user. */
    boolean foreign;

    /** Whether only its owner may change what is in it. */
    boolean readOnly;

    /** Whether only the owner of an entry, or its own, may remove or rename that. */
    boolean sticky;

    /** Whether nobody may remove or rename it. */
    boolean held;

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

    private Node ofSomebodyElse(boolean isReadOnly, boolean isSticky) {
      Node copy = copy();
      copy.foreign = true;
      copy.readOnly = isReadOnly && isDirectory();
      copy.sticky = isSticky && isDirectory();
      copy.held = held;
      return copy;
    }

    private Node held(boolean isHeld) {
      Node copy = copy();
      copy.foreign = foreign;
      copy.readOnly = readOnly;
      copy.sticky = sticky;
      copy.held = isHeld;
      return copy;
    }

    private Node touched(long now) {
      Node touched = held(held);
      touched.time = now;
      return touched;
    }

    private Node copy() {
      Node copy = new Node(content);
      copy.etag = etag;
      copy.time = time;
      return copy;
    }
  }

  /** Empties the store and forgets requests and faults. */
  public synchronized void clear() {
    nodes.clear();
    uploads.clear();
    renames.clear();
    renameLength = OptionalInt.empty();
    completed.clear();
    contended.clear();
    remembersCompletions = false;
    nodes.put("/", Node.directory());
    requests.clear();
    fault = Fault.NONE;
    shortage = Shortage.NONE;
    gate = (client, operation, path) -> {};
  }

  /** All that the store holds now, and what time it is there, without a request. */
  public synchronized Snapshot snapshot() {
    return new Snapshot(
        new TreeMap<>(nodes), new TreeMap<>(uploads), new TreeMap<>(renames), clock);
  }

  /** Makes the store hold what it held then, at that time; forgets requests and faults. */
  public synchronized void restore(Snapshot snapshot) {
    clear();
    nodes.putAll(snapshot.nodes);
    uploads.putAll(snapshot.uploads);
    renames.putAll(snapshot.renames);
    clock = snapshot.clock;
  }

  /** Puts a file there without a request. */
  public synchronized void write(String path, String content) {
    write(path, content.getBytes(StandardCharsets.UTF_8));
  }

  /** Puts a file there without a request. */
  public synchronized void write(String path, byte[] content) {
    put(path, Node.file(content.clone()));
    makeParents(path);
  }

  private void makeParents(String path) {
    for (int slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      String directory = path.substring(0, slash);
      if (nodes.putIfAbsent(directory, Node.directory()) == null) {
        touchParent(directory);
      }
    }
  }

  /** An entry of its directory has come or gone, which changes the time of that. */
  private void touchParent(String path) {
    int slash = path.lastIndexOf('/');
    nodes.computeIfPresent(
        slash > 0 ? path.substring(0, slash) : "/", (parent, node) -> node.touched(++changes));
  }

  /** What time it is, by the store's clock. */
  synchronized long time() {
    return clock;
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

  /**
   * Gives a directory, with all that is in it now, to somebody else, who alone may change what is
   * in it (0755).
   */
  public synchronized void giveAway(String directory) {
    tree(directory).replaceAll((path, node) -> node.ofSomebodyElse(true, false));
    nodes.computeIfPresent(directory, (path, node) -> node.ofSomebodyElse(true, false));
  }

  /**
   * Gives a directory, with all that is in it now, to somebody else; everybody may add to it, and
   * remove what is his own (1777).
   */
  public synchronized void giveAwaySticky(String directory) {
    tree(directory).replaceAll((path, node) -> node.ofSomebodyElse(false, true));
    nodes.computeIfPresent(directory, (path, node) -> node.ofSomebodyElse(false, true));
  }

  /** Lets everybody change what is in a directory, whoever owns it or that (0777). */
  public synchronized void openToAll(String directory) {
    nodes.computeIfPresent(directory, (path, node) -> node.ofSomebodyElse(false, false));
  }

  /**
   * Refuses to remove or rename a file, which nobody is told before. It goes with its directory
   * where that is renamed, as the sticky bit has it on ADLS Gen2; where files are objects, it stays
   * where it is.
   */
  public synchronized void hold(String file) {
    nodes.computeIfPresent(file, (path, node) -> node.held(true));
  }

  /** Lets everything be removed again that was held. */
  public synchronized void release() {
    nodes.replaceAll((path, node) -> node.held ? node.held(false) : node);
  }

  /** From now on this is missing, or nothing. */
  public synchronized void lack(Shortage what) {
    shortage = what;
  }

  /** What is missing. */
  Shortage shortage() {
    return shortage;
  }

  private Map<String, Node> tree(String directory) {
    return nodes.subMap(directory + "/", directory + AFTER_SLASH);
  }

  /** Fails, as HDFS does, if the user may not add an entry to a directory. */
  void requireMayAdd(String directory) throws IOException {
    Node node = nodes.get(directory);
    if (node != null && node.readOnly) {
      throw denied(directory);
    }
  }

  /** Fails, as HDFS does, if the user may not remove or rename an entry. */
  void requireMayRemove(String path) throws IOException {
    String parent = path.substring(0, Math.max(0, path.lastIndexOf('/')));
    Node directory = nodes.get(parent);
    Node node = nodes.get(path);
    if (node != null && node.held) {
      throw new AccessControlException("Permission denied: DELETE of " + path);
    }
    if (node != null
        && directory != null
        && (directory.readOnly || (directory.sticky && directory.foreign && node.foreign))) {
      throw denied(parent);
    }
  }

  /** Fails, as HDFS does, if the user may not remove all that is below a directory. */
  void requireMayRemoveTree(String path) throws IOException {
    requireMayRemove(path);
    for (String below : tree(path).keySet()) {
      requireMayRemove(below);
    }
  }

  private static IOException denied(String directory) {
    return new AccessControlException("Permission denied: WRITE in " + directory);
  }

  /**
   * Fails, as S3 does, if there is not what a write expects: 412, and 404 where there is nothing.
   * After such a refusal the next write of the path is refused once by 409, whatever is there: that
   * is what S3 answers where others write the same key.
   *
   * @param isExpected whether it is the object in whose place the new one goes
   * @param isThere whether there has to be one
   */
  void requireUnchanged(String path, Predicate<Node> isExpected, boolean isThere)
      throws IOException {
    Node there = nodes.get(path);
    if (isThere ? there == null || !isExpected.test(there) : there != null) {
      contended.add(path);
      if (there == null) {
        throw new FileNotFoundException("404 NoSuchKey: " + path);
      }
      throw new IOException("412 PreconditionFailed: " + path);
    }
    if (contended.remove(path)) {
      throw new IOException("409 ConditionalRequestConflict: " + path);
    }
  }

  /** Renames a file or tree without a request; nothing if it is not there. */
  public synchronized void rename(String source, String target) {
    if (nodes.containsKey(source)) {
      move(source, target);
    }
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
          if (node.content != null) {
            files.put(path, new String(node.content, StandardCharsets.UTF_8));
          }
        });
    return files;
  }

  /** What a reader sees, without a request: the files in no hidden directory, but for reports. */
  public NavigableMap<String, String> visible() {
    NavigableMap<String, String> visible = files();
    visible
        .keySet()
        .removeIf(path -> Arrays.stream(path.split("/")).anyMatch(StagingRoot::isHidden));
    return visible;
  }

  /** All directories, without a request. */
  public synchronized List<String> directories() {
    return nodes.keySet().stream().filter(path -> nodes.get(path).isDirectory()).toList();
  }

  /** All paths, directories too, without a request. */
  public synchronized List<String> paths() {
    return new ArrayList<>(nodes.keySet());
  }

  /** The raw bytes of a file, without a request. */
  public synchronized byte[] bytes(String path) {
    return nodes.get(path).content.clone();
  }

  /** The paths of uploads that were neither completed nor aborted, without a request. */
  public synchronized List<String> uploads() {
    List<String> paths = new ArrayList<>();
    uploads.values().forEach(upload -> paths.add(upload.path()));
    return paths;
  }

  /** The ids of those below a path. */
  synchronized List<String> uploadIds(String prefix) {
    List<String> ids = new ArrayList<>();
    uploads.forEach(
        (id, upload) -> {
          if (upload.path().startsWith(prefix)) {
            ids.add(id);
          }
        });
    return ids;
  }

  /** Aborts an upload without a request, as somebody else may; whether there was one. */
  public synchronized boolean abortUpload(String path) {
    return uploads.values().removeIf(upload -> upload.path().equals(path));
  }

  /**
   * From now on completions are remembered: one that is repeated is answered as the first was,
   * whatever is there by then, as S3 may do for a while.
   */
  public synchronized void rememberCompletions() {
    remembersCompletions = true;
  }

  /** The etag that a completed upload got, if the store remembers it. */
  Optional<String> remembered(String id) {
    return Optional.ofNullable(completed.get(id));
  }

  String beginUpload(MemoryUploads.Begun upload) {
    String id = "upload-" + ++etags;
    uploads.put(id, upload);
    return id;
  }

  MemoryUploads.Begun upload(String id) {
    return uploads.get(id);
  }

  void putUpload(String id, MemoryUploads.Begun upload) {
    uploads.put(id, upload);
  }

  void removeUpload(String id) {
    uploads.remove(id);
  }

  /** Makes an object of an upload, in the place of one that is there. */
  void completeUpload(String id, String path, byte[] content, String etag) {
    uploads.remove(id);
    if (remembersCompletions) {
      completed.put(id, etag);
    }
    makeParents(path);
    Node node = Node.file(content);
    put(path, node);
    node.etag = etag;
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

  /** Lets no request wait from now on. */
  public void noGate() {
    gate = (client, operation, path) -> {};
  }

  /** Lets all requests succeed from now on. */
  public synchronized void noFault() {
    fault = Fault.NONE;
  }

  /** Sets what happens to requests from now on. */
  public synchronized void onRequest(Fault newFault) {
    fault = newFault;
  }

  /** All goes well, and before each such request something else happens. */
  public void before(String operation, Predicate<String> paths, Consumer<String> action) {
    onRequest(
        (number, asked, path) -> {
          if (asked.equals(operation) && paths.test(path)) {
            action.accept(path);
          }
          return Fate.NORMAL;
        });
  }

  /** The same, before the n-th of them alone. */
  public void before(String operation, int n, Predicate<String> paths, Runnable action) {
    int[] seen = {0};
    before(operation, path -> paths.test(path) && ++seen[0] == n, path -> action.run());
  }

  /**
   * Makes a request.
   *
   * @param half its effect where it fails in its middle
   */
  <T> T request(String client, String operation, Path path, Callable<T> action, Callable<T> half)
      throws IOException {
    String shown = path.toUri().getPath();
    for (int again = 0; ; again++) {
      try {
        return passed(client, operation, shown, () -> asFated(operation, path, action, half));
      } catch (FolderRename.Locked e) {
        // Drivers make a request again that was refused for a while.
        if (again == FolderRename.MOST_REPETITIONS) {
          throw e;
        }
      }
    }
  }

  /** The renames of folders that are under way, as "source -> destination"; without a request. */
  public synchronized List<String> renames() {
    return renames.values().stream().map(FolderRename::toString).toList();
  }

  /** The same by the ids of their operations. */
  Map<String, FolderRename> underWay() {
    return renames;
  }

  /** Fails, as a bucket does, if the path is at or below a folder that is being renamed. */
  void requireNotRenamed(String path) throws IOException {
    for (FolderRename rename : renames.values()) {
      rename.requireFree(path);
    }
  }

  /** Fails, as a bucket does, if the path is at, below or above a folder that is being renamed. */
  void requireNothingRenamed(String tree) throws IOException {
    for (FolderRename rename : renames.values()) {
      rename.requireFreeTree(tree);
    }
  }

  /**
   * Begins to rename a folder, which takes some further requests of whomever, or is done at once.
   *
   * @return the id of the operation
   */
  String beginRename(String source, String destination) {
    FolderRename rename =
        renameLength.isPresent()
            ? new FolderRename(source, destination, renameLength.getAsInt())
            : new FolderRename(source, destination);
    String id = "operation-" + ++etags;
    if (rename.isDone()) {
      finish(rename);
    } else {
      renames.put(id, rename);
    }
    return id;
  }

  private void timePassesForRenames() {
    for (String id : new ArrayList<>(renames.keySet())) {
      FolderRename rename = renames.get(id).later();
      if (rename.isDone()) {
        renames.remove(id);
        finish(rename);
      } else {
        renames.put(id, rename);
      }
    }
  }

  /** In one change. No object keeps its generation: nobody has promised that. */
  private void finish(FolderRename rename) {
    move(rename.source(), rename.destination());
    tree(rename.destination())
        .replaceAll(
            (path, node) -> {
              if (node.content == null) {
                return node;
              }
              Node moved = node.copy();
              moved.etag = "etag-" + ++etags;
              return moved;
            });
  }

  /** From now on the rename of each folder takes so many further requests of whomever. */
  public synchronized void renameSlowly(int requests) {
    renameLength = OptionalInt.of(requests);
  }

  /** Lets all renames of folders that are under way come to their ends. */
  public synchronized void finishRenames() {
    while (!renames.isEmpty()) {
      timePassesForRenames();
    }
  }

  private <T> T passed(String client, String operation, String shown, Request<T> request)
      throws IOException {
    Gate passing = gate;
    passing.pass(client, operation, shown);
    try {
      return request.run();
    } finally {
      passing.done();
    }
  }

  private interface Request<T> {
    T run() throws IOException;
  }

  private synchronized <T> T asFated(
      String operation, Path path, Callable<T> action, Callable<T> half) throws IOException {
    Fate fate = begin(operation, path, path.toUri().getPath());
    return switch (fate.effect()) {
      case NORMAL -> call(action);
      case FAILS_BEFORE, ANSWERS_FALSE ->
          throw fate.failure("injected before " + operation + " " + path);
      case HALF_DONE -> {
        call(half);
        throw fate.failure("injected in the middle of " + operation + " " + path);
      }
      default -> {
        call(action);
        throw fate.failure("injected after " + operation + " " + path);
      }
    };
  }

  /**
   * Makes one request of a rename.
   *
   * @param operation "rename", or what of it this is
   */
  boolean requestRename(
      String client, String operation, Path source, Path destination, Callable<Boolean> action)
      throws IOException {
    String shown = source.toUri().getPath() + " -> " + destination.toUri().getPath();
    return passed(client, operation, shown, () -> renameAsFated(operation, source, shown, action));
  }

  private synchronized boolean renameAsFated(
      String operation, Path source, String shown, Callable<Boolean> action) throws IOException {
    Fate fate = begin(operation, source, shown);
    switch (fate.effect()) {
      case FAILS_BEFORE:
      case HALF_DONE:
        throw fate.failure("injected before " + operation + " " + source);
      case ANSWERS_FALSE:
        return false;
      case NORMAL:
        return call(action);
      default:
        call(action);
        if (fate == Fate.DONE_ANSWERS_FALSE) {
          return false;
        }
        throw fate.failure("injected after " + operation + " " + source);
    }
  }

  private Fate begin(String operation, Path path, String shown) {
    requests.add(operation + " " + shown);
    Fate fate = fault.fate(requests.size(), operation, path.toUri().getPath());
    if (fate.effect() != Fate.FAILS_BEFORE) {
      // What never arrives, as all from a dead driver, lets no time pass.
      timePassesForRenames();
    }
    return fate;
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

  /** Where a file is that was put there and not changed since, whatever its name is by now. */
  Optional<String> find(Node file) {
    return nodes.entrySet().stream()
        .filter(entry -> entry.getValue() == file)
        .map(Map.Entry::getKey)
        .findFirst();
  }

  void put(String path, Node node) {
    if (node.content != null) {
      node.etag = "etag-" + ++etags;
      node.time = ++clock;
    }
    if (nodes.put(path, node) == null) {
      touchParent(path);
    }
  }

  void move(String source, String target) {
    TreeMap<String, Node> moved = new TreeMap<>();
    moved.put(target, nodes.remove(source));
    Map<String, Node> below = tree(source);
    below.forEach((path, node) -> moved.put(target + path.substring(source.length()), node));
    below.clear();
    nodes.putAll(moved);
    touchParent(source);
    touchParent(target);
  }

  /** Whether a file is at the path, without a request. */
  public synchronized boolean isFile(String path) {
    return nodes.containsKey(path) && nodes.get(path).content != null;
  }

  /** Gives a file an etag and a time of its own. */
  void renew(String path) {
    put(path, Node.file(nodes.get(path).content));
  }

  void removeTree(String path) {
    if (nodes.remove(path) != null) {
      touchParent(path);
    }
    tree(path).clear();
  }

  /** Deletes the first half of a directory's files. */
  void removeHalf(String directory) {
    List<String> files = filesBelow(directory);
    files.subList(0, (files.size() + 1) / 2).forEach(nodes::remove);
  }

  /** Deletes all files below a directory, and no directory. */
  void removeFiles(String directory) {
    filesBelow(directory).forEach(nodes::remove);
  }

  private List<String> filesBelow(String directory) {
    return tree(directory).keySet().stream().filter(this::isFile).toList();
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
