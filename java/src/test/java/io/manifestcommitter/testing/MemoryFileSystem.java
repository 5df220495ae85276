package io.manifestcommitter.testing;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.MD5MD5CRC32CastagnoliFileChecksum;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.util.Progressable;

/**
 * A Hadoop filesystem in memory that counts requests and fails on demand, so that the committer's
 * own classes run unchanged. Bound to a scheme with {@code fs.<scheme>.impl}; the authority names
 * the {@link MemoryStoreState} behind it.
 *
 * <p>Behaves like HDFS: a file is renamed atomically and never onto another; a directory renamed
 * onto a directory goes inside; parents are made by {@code create} and {@code mkdirs}. Files have
 * etags that survive a rename.
 */
public final class MemoryFileSystem extends FileSystem {
  /** The key of the name under which a filesystem's requests are shown to a gate. */
  public static final String CLIENT = "memory.filesystem.client";

  /** The key that makes a filesystem answer as a storage account without directories. */
  public static final String FLAT = "memory.filesystem.flat";

  private static final Map<String, MemoryStoreState> STATES = new ConcurrentHashMap<>();

  private URI uri;
  private String client;
  private MemoryStoreState state;
  private Path working;

  /** The state behind {@code scheme://authority}, made on first use. */
  public static MemoryStoreState state(String authority) {
    return STATES.computeIfAbsent(authority, name -> new MemoryStoreState());
  }

  /** A configuration in which the schemes hdfs, abfs, gs and mem are served from memory. */
  public static Configuration configuration() {
    Configuration conf = new Configuration(false);
    for (String scheme : new String[] {"hdfs", "abfs", "gs", "mem"}) {
      conf.set("fs." + scheme + ".impl", MemoryFileSystem.class.getName());
      conf.set("fs." + scheme + ".impl.disable.cache", "true");
    }
    conf.set("fs.defaultFS", "mem://default");
    return conf;
  }

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    uri = URI.create(name.getScheme() + "://" + name.getAuthority());
    state = state(name.getAuthority());
    client = conf.get(CLIENT, "");
    working = new Path(uri.toString(), "/");
  }

  /** As an account with a hierarchical namespace, unless {@link #FLAT} says otherwise. */
  @Override
  public boolean hasPathCapability(Path path, String capability) {
    return capability.equals(CommonPathCapabilities.FS_ACLS) && !getConf().getBoolean(FLAT, false);
  }

  /** The content's, where {@code fs.gs.checksum.type} asks for it, as Google's connector. */
  @Override
  public FileChecksum getFileChecksum(Path path) throws IOException {
    if (getConf().get("fs.gs.checksum.type") == null) {
      return null;
    }
    return request(
        "checksum",
        path,
        () -> {
          MemoryStoreState.Node node = state.get(key(path));
          if (node == null || node.isDirectory()) {
            throw new FileNotFoundException(path.toString());
          }
          return new MD5MD5CRC32CastagnoliFileChecksum(0, 0, MD5Hash.digest(node.content));
        });
  }

  @Override
  public String getScheme() {
    return uri.getScheme();
  }

  @Override
  public URI getUri() {
    return uri;
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return request(
        "open",
        path,
        () -> {
          MemoryStoreState.Node node = state.get(key(path));
          if (node == null || node.isDirectory()) {
            throw new FileNotFoundException(path.toString());
          }
          return new FSDataInputStream(new MemoryInput(node.content));
        });
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
    OutputStream out =
        new ByteArrayOutputStream() {
          private boolean closed;

          @Override
          public void close() throws IOException {
            if (closed) {
              return;
            }
            closed = true;
            byte[] content = toByteArray();
            state.<Void>request(
                client,
                "create",
                path,
                () -> createFile(path, overwrite, content),
                () -> createFile(path, overwrite, Arrays.copyOf(content, content.length / 2)));
          }
        };
    return new FSDataOutputStream(out, null);
  }

  private Void createFile(Path path, boolean overwrite, byte[] content) throws IOException {
    MemoryStoreState.Node existing = state.get(key(path));
    if (existing != null && (existing.isDirectory() || !overwrite)) {
      throw new FileAlreadyExistsException(path.toString());
    }
    makeDirectories(path.getParent());
    state.put(key(path), MemoryStoreState.Node.file(content));
    return null;
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    return state.requestRename(client, source, destination, () -> doRename(source, destination));
  }

  private boolean doRename(Path source, Path destination) {
    MemoryStoreState.Node node = state.get(key(source));
    if (node == null) {
      return false;
    }
    Path target = destination;
    MemoryStoreState.Node existing = state.get(key(destination));
    if (existing != null) {
      if (!existing.isDirectory()) {
        return false;
      }
      target = new Path(destination, source.getName());
      if (state.get(key(target)) != null) {
        return false;
      }
    }
    MemoryStoreState.Node parent = state.get(key(target.getParent()));
    if (parent == null || !parent.isDirectory()) {
      return false;
    }
    state.move(key(source), key(target));
    return true;
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return state.request(
        client,
        "delete",
        path,
        () -> doDelete(path, recursive),
        () -> {
          if (recursive) {
            state.removeHalf(key(path));
          }
          return true;
        });
  }

  private boolean doDelete(Path path, boolean recursive) throws IOException {
    String key = key(path);
    MemoryStoreState.Node node = state.get(key);
    if (node == null) {
      return false;
    }
    if (node.isDirectory() && !recursive && state.hasChildren(key)) {
      throw new PathIsNotEmptyDirectoryException(path.toString());
    }
    state.removeTree(key);
    return true;
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return request(
        "list",
        path,
        () -> {
          String key = key(path);
          MemoryStoreState.Node node = state.get(key);
          if (node == null) {
            throw new FileNotFoundException(path.toString());
          }
          if (!node.isDirectory()) {
            return new FileStatus[] {status(key, node)};
          }
          List<FileStatus> children = new ArrayList<>();
          state.forEachChild(key, (childPath, child) -> children.add(status(childPath, child)));
          return children.toArray(new FileStatus[0]);
        });
  }

  @Override
  public void setWorkingDirectory(Path directory) {
    working = directory;
  }

  @Override
  public Path getWorkingDirectory() {
    return working;
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    return request(
        "mkdirs",
        path,
        () -> {
          makeDirectories(path);
          return true;
        });
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return request(
        "status",
        path,
        () -> {
          MemoryStoreState.Node node = state.get(key(path));
          if (node == null) {
            throw new FileNotFoundException(path.toString());
          }
          return status(key(path), node);
        });
  }

  /** Makes all missing levels, or none. */
  private void makeDirectories(Path directory) throws IOException {
    Deque<Path> missing = new ArrayDeque<>();
    for (Path path = directory; path != null; path = path.getParent()) {
      MemoryStoreState.Node node = state.get(key(path));
      if (node != null) {
        if (!node.isDirectory()) {
          throw new ParentNotDirectoryException(path.toString());
        }
        break;
      }
      missing.push(path);
    }
    missing.forEach(path -> state.put(key(path), MemoryStoreState.Node.directory()));
  }

  /** A request that has no half of an effect. */
  private <T> T request(String operation, Path path, Callable<T> action) throws IOException {
    return state.request(client, operation, path, action, () -> null);
  }

  private static String key(Path path) {
    return path.toUri().getPath();
  }

  private FileStatus status(String key, MemoryStoreState.Node node) {
    Path path = new Path(uri.getScheme(), uri.getAuthority(), key);
    return node.isDirectory()
        ? new FileStatus(0, true, 1, 1, 0, path)
        : new EtagStatus(node.content.length, node.time, path, node.etag);
  }

  /** A status with an etag, as ABFS has. */
  private static final class EtagStatus extends FileStatus implements EtagSource {
    private static final long serialVersionUID = 1L;
    private final String etag;

    EtagStatus(long length, long time, Path path, String etag) {
      super(length, false, 1, 1, time, path);
      this.etag = etag;
    }

    @Override
    public String getEtag() {
      return etag;
    }

    @Override
    public boolean equals(Object other) {
      return super.equals(other);
    }

    @Override
    public int hashCode() {
      return super.hashCode();
    }
  }

  private static final class MemoryInput extends ByteArrayInputStream
      implements Seekable, PositionedReadable {
    MemoryInput(byte[] content) {
      super(content);
    }

    @Override
    public void seek(long position) throws IOException {
      pos = (int) position;
    }

    @Override
    public long getPos() {
      return pos;
    }

    @Override
    public boolean seekToNewSource(long target) {
      return false;
    }

    @Override
    public int read(long position, byte[] buffer, int offset, int length) {
      if (position >= count) {
        return -1;
      }
      int most = Math.min(length, count - (int) position);
      System.arraycopy(buf, (int) position, buffer, offset, most);
      return most;
    }

    @Override
    public void readFully(long position, byte[] buffer, int offset, int length) throws IOException {
      if (read(position, buffer, offset, length) < length && length > 0) {
        throw new EOFException();
      }
    }

    @Override
    public void readFully(long position, byte[] buffer) throws IOException {
      readFully(position, buffer, 0, buffer.length);
    }
  }
}
