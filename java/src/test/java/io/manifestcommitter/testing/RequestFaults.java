// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.util.Progressable;

/**
 * Numbers the requests that filesystems of one configuration get, and lets some of them go wrong.
 * The filesystems find it by a setting. Safe for use by many threads.
 */
public final class RequestFaults implements Closeable {
  private static final String ID = "test.request.faults";
  private static final Map<String, RequestFaults> ALL = new ConcurrentHashMap<>();

  private final ThreadLocal<Boolean> inside = ThreadLocal.withInitial(() -> false);
  private final String id = UUID.randomUUID().toString();
  private int requests;
  private final List<FileSystem> filesystems = new ArrayList<>();
  private BiPredicate<String, Path> refused;
  private Fault fault;
  private int injected;

  private RequestFaults() {}

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
    requests = 0;
    injected = 0;
    fault = newFault;
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
  }

  /** How many requests went wrong since they are numbered. */
  public synchronized int injected() {
    return injected;
  }

  /** Makes a request that has no answer but its result. */
  <T> T pass(String operation, Path path, Call<T> call) throws IOException {
    if (inside.get()) {
      return call.run();
    }
    Fate fate = fate(operation, path, path);
    return switch (fate.effect()) {
      case NORMAL -> nested(call);
      case FAILS_AFTER -> {
        nested(call);
        throw failure(fate, operation, path, "after");
      }
      default -> throw failure(fate, operation, path, "before");
    };
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
    Fate fate = fate(operation, path, shown);
    return switch (fate.effect()) {
      case NORMAL -> nested(call);
      case FAILS_BEFORE -> throw failure(fate, operation, shown, "before");
      case FAILS_AFTER -> {
        nested(call);
        throw failure(fate, operation, shown, "after");
      }
      case DONE_ANSWERS_FALSE -> {
        nested(call);
        yield false;
      }
      default -> false;
    };
  }

  /** Creates a file; its close, which completes it, is a request, too. */
  FSDataOutputStream create(Path path, Call<FSDataOutputStream> call) throws IOException {
    FSDataOutputStream out = pass("create", path, call);
    return new FSDataOutputStream(out, null) {
      @Override
      public void close() throws IOException {
        RequestFaults.this.<Void>pass(
            "close",
            path,
            () -> {
              super.close();
              return null;
            });
      }
    };
  }

  private synchronized Fate fate(String operation, Path path, Path shown) {
    if (refused != null && refused.test(operation, shown)) {
      return Fate.FAILS_BEFORE;
    }
    Fate fate = Fate.NORMAL;
    if (fault != null) {
      fate = fault.fate(++requests, operation, path.toUri().getPath());
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

  /** HDFS of which every request can go wrong. */
  public static final class UnreliableHdfs extends DistributedFileSystem {
    private RequestFaults faults;

    @Override
    public void initialize(URI uri, Configuration conf) throws IOException {
      faults = RequestFaults.join(conf, this);
      super.initialize(uri, conf);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      return faults.pass("status", path, () -> super.getFileStatus(path));
    }

    @Override
    public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
      return faults.pass("list", path, () -> super.listStatusIterator(path));
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      return faults.pass("list", path, () -> super.listStatus(path));
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
      return faults.pass("open", path, () -> super.open(path, bufferSize));
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) throws IOException {
      return faults.ask("mkdirs", path, () -> super.mkdirs(path, permission));
    }

    @Override
    public boolean rename(Path source, Path destination) throws IOException {
      return faults.rename(source, destination, () -> super.rename(source, destination));
    }

    @Override
    public void rename(Path source, Path destination, Options.Rename... options)
        throws IOException {
      faults.<Void>pass(
          "rename-directory",
          destination,
          () -> {
            super.rename(source, destination, options);
            return null;
          });
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
      return faults.ask("delete", path, () -> super.delete(path, recursive));
    }

    @Override
    public FSDataOutputStream create(
        Path path,
        FsPermission permission,
        boolean overwrite,
        int bufferSize,
        short replication,
        long blockSize,
        Progressable progress)
        throws IOException {
      return faults.create(
          path,
          () ->
              super.create(
                  path, permission, overwrite, bufferSize, replication, blockSize, progress));
    }
  }

  /** The local filesystem of which every request can go wrong. */
  public static final class UnreliableLocalFileSystem extends LocalFileSystem {
    private RequestFaults faults;

    @Override
    public void initialize(URI uri, Configuration conf) throws IOException {
      faults = RequestFaults.join(conf, this);
      super.initialize(uri, conf);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      return faults.pass("status", path, () -> super.getFileStatus(path));
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      return faults.pass("list", path, () -> super.listStatus(path));
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
      return faults.pass("open", path, () -> super.open(path, bufferSize));
    }

    @Override
    public boolean mkdirs(Path path) throws IOException {
      return faults.ask("mkdirs", path, () -> super.mkdirs(path));
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) throws IOException {
      return faults.ask("mkdirs", path, () -> super.mkdirs(path, permission));
    }

    @Override
    public boolean rename(Path source, Path destination) throws IOException {
      return faults.rename(source, destination, () -> super.rename(source, destination));
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
      return faults.ask("delete", path, () -> super.delete(path, recursive));
    }

    @Override
    public FSDataOutputStream create(
        Path path,
        FsPermission permission,
        boolean overwrite,
        int bufferSize,
        short replication,
        long blockSize,
        Progressable progress)
        throws IOException {
      return faults.create(
          path,
          () ->
              super.create(
                  path, permission, overwrite, bufferSize, replication, blockSize, progress));
    }
  }
}
