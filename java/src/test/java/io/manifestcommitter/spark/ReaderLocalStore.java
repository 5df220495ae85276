package io.manifestcommitter.spark;

import io.manifestcommitter.testing.LocalFiles;
import io.manifestcommitter.testing.MemoryStoreState.Fate;
import io.manifestcommitter.testing.MemoryStoreState.Fault;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/** A local directory, through Hadoop's local filesystem. */
final class ReaderLocalStore implements ReaderStore {
  private static final Fault NONE = (number, operation, path) -> Fate.NORMAL;

  /** Of the one store that a test has open. */
  private static volatile Watched watched = new Watched(NONE, "");

  private final File root;
  private final LocalFiles local;

  ReaderLocalStore(File root) {
    this.root = root;
    this.local = new LocalFiles(root);
    noFault();
  }

  @Override
  public Configuration configuration() {
    Configuration conf = new Configuration(false);
    conf.set("fs.file.impl", WatchedFileSystem.class.getName());
    conf.set("fs.file.impl.disable.cache", "true");
    conf.set("fs.defaultFS", "file:///");
    return conf;
  }

  @Override
  public Path path(String path) {
    return new Path("file:" + root.getPath() + path);
  }

  @Override
  public void put(String path, String content) {
    try {
      local.write(path.substring(1), content.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public NavigableMap<String, String> files() {
    NavigableMap<String, String> files = new TreeMap<>();
    try {
      local.files().forEach((path, content) -> files.put("/" + path, content));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files;
  }

  @Override
  public void onRequest(Fault fault) {
    watched = new Watched(fault, root.getPath());
  }

  @Override
  public void noFault() {
    watched = new Watched(NONE, root.getPath());
  }

  /** Hadoop's local filesystem; what it asks itself while it serves a request is not one. */
  public static final class WatchedFileSystem extends LocalFileSystem {
    private boolean serving;

    @Override
    public FSDataInputStream open(Path file, int bufferSize) throws IOException {
      return request("open", file, () -> super.open(file, bufferSize));
    }

    @Override
    public FSDataOutputStream create(
        Path file,
        FsPermission permission,
        boolean overwrite,
        int bufferSize,
        short replication,
        long blockSize,
        Progressable progress)
        throws IOException {
      return request(
          "create",
          file,
          () ->
              super.create(
                  file, permission, overwrite, bufferSize, replication, blockSize, progress));
    }

    @Override
    public boolean rename(Path source, Path destination) throws IOException {
      return request("rename", source, () -> super.rename(source, destination));
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
      return request("delete", path, () -> super.delete(path, recursive));
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      return request("list", path, () -> super.listStatus(path));
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      return request("status", path, () -> super.getFileStatus(path));
    }

    @Override
    public boolean mkdirs(Path path) throws IOException {
      return request("mkdirs", path, () -> super.mkdirs(path));
    }

    private synchronized <T> T request(String operation, Path path, Request<T> request)
        throws IOException {
      if (serving) {
        return request.run();
      }
      serving = true;
      try {
        Fate fate = watched.fate(operation, path);
        if (fate == Fate.FAILS_BEFORE) {
          throw new IOException("injected before " + operation + " " + path);
        }
        T answer = request.run();
        if (fate == Fate.FAILS_AFTER) {
          throw new IOException("injected after " + operation + " " + path);
        }
        return answer;
      } finally {
        serving = false;
      }
    }

    private interface Request<T> {
      T run() throws IOException;
    }
  }

  /** The requests below one directory. */
  private static final class Watched {
    private final Fault fault;
    private final String root;
    private int requests;

    Watched(Fault fault, String root) {
      this.fault = fault;
      this.root = root;
    }

    synchronized Fate fate(String operation, Path path) {
      requests++;
      return fault.fate(requests, operation, path.toUri().getPath().substring(root.length()));
    }
  }
}
