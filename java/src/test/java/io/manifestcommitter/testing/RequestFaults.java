// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Numbers the requests that filesystems of one configuration get, and lets some of them go wrong.
 * The filesystems find it by a setting. Safe for use by many threads.
 */
public final class RequestFaults implements Closeable {
  private static final String ID = "test.request.faults";
  private static final Map<String, RequestFaults> ALL = new ConcurrentHashMap<>();

  private final ThreadLocal<Boolean> inside = ThreadLocal.withInitial(() -> false);
  private final String id = UUID.randomUUID().toString();
  private final List<Request> requests = new ArrayList<>();
  private final List<FileSystem> filesystems = new ArrayList<>();
  private BiPredicate<String, Path> refused;
  private Fault fault;
  private Predicate<Path> renamedTo;
  private Fault ofRenames;
  private int renames;
  private int injected;

  private RequestFaults() {}

  /** What a request can do. */
  public enum Kind {
    READS,
    CHANGES,
    /** It changes something and answers whether it did. */
    CHANGES_AND_TELLS;

    /** The ways in which it goes wrong. */
    public List<Fate> faults() {
      switch (this) {
        case READS:
          return List.of(Fate.FAILS_BEFORE);
        case CHANGES:
          return List.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER);
        default:
          return List.of(
              Fate.FAILS_BEFORE, Fate.FAILS_AFTER, Fate.ANSWERS_FALSE, Fate.DONE_ANSWERS_FALSE);
      }
    }

    /** The ways in which it ends in an {@link Error}. */
    public List<Fate> errors() {
      List<Fate> errors = new ArrayList<>(Fate.ERRORS);
      errors.removeIf(fate -> !faults().contains(fate.effect()));
      return errors;
    }
  }

  /** A request as it was made. */
  public static final class Request {
    private final String operation;
    private final Path path;
    private final Kind kind;

    private Request(String operation, Path path, Kind kind) {
      this.operation = operation;
      this.path = path;
      this.kind = kind;
    }

    /** What it is. */
    public String operation() {
      return operation;
    }

    /** What it can do. */
    public Kind kind() {
      return kind;
    }

    @Override
    public String toString() {
      return operation + " " + path.toUri().getPath();
    }
  }

  /** A request to the filesystem behind. */
  interface Call<T> {
    T run() throws IOException;
  }

  /** Makes the filesystems of a configuration ones of which requests can go wrong. */
  public static RequestFaults bind(Configuration conf) {
    RequestFaults faults = new RequestFaults();
    ALL.put(faults.id, faults);
    conf.set(ID, faults.id);
    conf.set("fs.hdfs.impl", UnreliableHdfs.class.getName());
    conf.set("fs.file.impl", UnreliableLocalFileSystem.class.getName());
    conf.setBoolean("fs.hdfs.impl.disable.cache", true);
    conf.setBoolean("fs.file.impl.disable.cache", true);
    return faults;
  }

  /** For a filesystem that is opened: what it has to ask. */
  static RequestFaults join(Configuration conf, FileSystem fs) {
    RequestFaults faults = ALL.get(conf.get(ID));
    synchronized (faults) {
      faults.filesystems.add(fs);
    }
    return faults;
  }

  /** From here on requests are numbered, and go as {@code newFault} says. */
  public synchronized void onRequest(Fault newFault) {
    requests.clear();
    injected = 0;
    fault = newFault;
  }

  /** From here on renames to some paths are numbered, and go as {@code newFault} says. */
  public synchronized void onRenamesTo(Predicate<Path> destinations, Fault newFault) {
    renamedTo = destinations;
    ofRenames = newFault;
    renames = 0;
    injected = 0;
  }

  /**
   * From here on an operation fails.
   *
   * @param paths at which; for a rename, to which
   */
  public synchronized void refuse(String refusedOperation, Predicate<Path> paths) {
    refused = (operation, path) -> operation.equals(refusedOperation) && paths.test(path);
  }

  /** From here on all goes well. */
  public synchronized void noFault() {
    fault = null;
    refused = null;
    ofRenames = null;
  }

  /** The requests since they are numbered. */
  public synchronized List<Request> requests() {
    return List.copyOf(requests);
  }

  /** How many of them went wrong. */
  public synchronized int injected() {
    return injected;
  }

  /** Makes a request that has no answer but its result. */
  <T> T pass(String operation, Path path, Kind kind, Call<T> call) throws IOException {
    if (inside.get()) {
      return call.run();
    }
    Fate fate = fate(operation, path, path, kind);
    switch (fate.effect()) {
      case NORMAL:
        return nested(call);
      case FAILS_AFTER:
        nested(call);
        throw failure(fate, operation, path, "after");
      default:
        throw failure(fate, operation, path, "before");
    }
  }

  /** Makes a request that answers whether it was done. */
  boolean ask(String operation, Path path, Call<Boolean> call) throws IOException {
    return ask(operation, path, path, call);
  }

  /** A rename, which is shown with its destination. */
  boolean rename(Path source, Path destination, Call<Boolean> call) throws IOException {
    return ask("rename", source, destination, call);
  }

  private boolean ask(String operation, Path path, Path shown, Call<Boolean> call)
      throws IOException {
    if (inside.get()) {
      return call.run();
    }
    Fate fate = fate(operation, path, shown, Kind.CHANGES_AND_TELLS);
    switch (fate.effect()) {
      case NORMAL:
        return nested(call);
      case FAILS_BEFORE:
        throw failure(fate, operation, shown, "before");
      case FAILS_AFTER:
        nested(call);
        throw failure(fate, operation, shown, "after");
      case DONE_ANSWERS_FALSE:
        nested(call);
        return false;
      default:
        return false;
    }
  }

  /** Creates a file; its close, which completes it, is a request, too. */
  FSDataOutputStream create(Path path, Call<FSDataOutputStream> call) throws IOException {
    FSDataOutputStream out = pass("create", path, Kind.CHANGES, call);
    return new FSDataOutputStream(out, null) {
      @Override
      public void close() throws IOException {
        RequestFaults.this.<Void>pass(
            "close",
            path,
            Kind.CHANGES,
            () -> {
              super.close();
              return null;
            });
      }
    };
  }

  private synchronized Fate fate(String operation, Path path, Path shown, Kind kind) {
    if (refused != null && refused.test(operation, shown)) {
      return Fate.FAILS_BEFORE;
    }
    Fate fate = Fate.NORMAL;
    if (ofRenames != null && operation.equals("rename") && renamedTo.test(shown)) {
      fate = ofRenames.fate(++renames, operation, path.toUri().getPath());
    } else if (fault != null) {
      requests.add(new Request(operation, shown, kind));
      fate = fault.fate(requests.size(), operation, path.toUri().getPath());
    }
    injected += fate == Fate.NORMAL ? 0 : 1;
    return fate;
  }

  /** What a filesystem asks of itself is not a request. */
  private <T> T nested(Call<T> call) throws IOException {
    inside.set(true);
    try {
      return call.run();
    } finally {
      inside.remove();
    }
  }

  private static IOException failure(Fate fate, String operation, Path path, String when) {
    return fate.failure("Injected failure " + when + " " + operation + " of " + path);
  }

  /** Closes the filesystems. */
  @Override
  public void close() throws IOException {
    ALL.remove(id);
    noFault();
    List<FileSystem> open;
    synchronized (this) {
      open = List.copyOf(filesystems);
    }
    for (FileSystem fs : open) {
      fs.close();
    }
  }
}
