// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import static io.manifestcommitter.bench.NodeTree.name;
import static io.manifestcommitter.bench.NodeTree.parent;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiPredicate;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;

/**
 * A store in memory in which every request takes the same time, however many are under way. The
 * time passes before the request is done and outside the lock under which it is done.
 */
final class SimulatedStore {
  private static final Map<String, SimulatedStore> STORES = new ConcurrentHashMap<>();
  private static final long FIRST_VERSION = 0xB_0000_0000L;

  private final NodeTree<StoreNode> tree =
      new NodeTree<>(() -> StoreNode.directory(System.currentTimeMillis()));
  private final RequestCounter counter = new RequestCounter();
  private final AtomicLong requests = new AtomicLong();
  private volatile long latencyNanos;
  private volatile Watch watch = new Watch(Long.MAX_VALUE, () -> {});
  private volatile BiPredicate<RequestKind, String> refused = (kind, path) -> false;
  private long versions = FIRST_VERSION;

  private SimulatedStore() {}

  /** The store of that name, made on first use. */
  static SimulatedStore named(String name) {
    return STORES.computeIfAbsent(name, unused -> new SimulatedStore());
  }

  /** Lets go of a store that nobody uses any more. */
  static void forget(String name) {
    STORES.remove(name);
  }

  /** Sets how long every request takes, in nanoseconds. */
  void latency(long nanos) {
    latencyNanos = nanos;
  }

  /** Lets {@code look} run in every {@code interval}-th request, before that is done. */
  void watch(long interval, Runnable look) {
    watch = new Watch(interval, look);
  }

  /** All requests so far. */
  RequestCounts requests() {
    return counter.counts();
  }

  /** Lets the store refuse requests for paths from now on. */
  void refuse(BiPredicate<RequestKind, String> which) {
    refused = which;
  }

  /** Counts a request, lets its time pass, and fails if it is to be refused. */
  void request(RequestKind kind, String path) throws IOException {
    request(kind);
    if (refused.test(kind, path)) {
      throw new IOException("refused: " + kind + " " + path);
    }
  }

  private void request(RequestKind kind) throws InterruptedIOException {
    counter.count(kind);
    Watch current = watch;
    if (requests.incrementAndGet() % current.interval == 0) {
      current.look.run();
    }
    long nanos = latencyNanos;
    if (nanos == 0) {
      return;
    }
    long end = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
      if (Thread.currentThread().isInterrupted()) {
        throw new InterruptedIOException("interrupted during a request");
      }
    }
  }

  /** What is at a path. */
  synchronized Optional<StoreNode> find(String path) {
    return Optional.ofNullable(tree.lookUp(path));
  }

  /** The entries of a directory by name; empty optional for a file. */
  synchronized Optional<List<Map.Entry<String, StoreNode>>> list(String path)
      throws FileNotFoundException {
    StoreNode node = tree.lookUp(path);
    if (node == null) {
      throw new FileNotFoundException(path);
    }
    return node.isDirectory()
        ? Optional.of(new ArrayList<>(node.children().entrySet()))
        : Optional.empty();
  }

  /** Makes a directory and its parents. */
  synchronized void mkdirs(String path) throws IOException {
    tree.directory(path);
  }

  /** Creates a file and its parents. */
  synchronized void write(String path, byte[] bytes) throws IOException {
    put(path, StoreNode.file(bytes, System.currentTimeMillis(), versions++));
  }

  /** Puts a file there that has a length and no content. No request. */
  synchronized void plant(String path, long length) throws IOException {
    put(path, StoreNode.data(length, System.currentTimeMillis(), versions++));
  }

  /** Renames a file or directory; says whether it was done. */
  synchronized boolean rename(String source, String destination) {
    return tree.rename(source, destination);
  }

  /** Deletes what is at a path; says whether there was something. */
  synchronized boolean delete(String path, boolean recursive) throws IOException {
    StoreNode node = tree.lookUp(path);
    if (node == null) {
      return false;
    }
    if (node.isDirectory() && !recursive && !node.children().isEmpty()) {
      throw new PathIsNotEmptyDirectoryException(path);
    }
    tree.remove(path);
    return true;
  }

  private void put(String path, StoreNode file) throws IOException {
    NavigableMap<String, StoreNode> siblings = tree.directory(parent(path)).children();
    StoreNode existing = siblings.get(name(path));
    if (existing != null && existing.isDirectory()) {
      throw new FileAlreadyExistsException(path + " is a directory");
    }
    siblings.put(name(path), file);
  }

  /** Somebody who looks at what is going on now and then. */
  private static final class Watch {
    private final long interval;
    private final Runnable look;

    Watch(long interval, Runnable look) {
      this.interval = interval;
      this.look = look;
    }
  }
}
