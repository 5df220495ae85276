// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.testing.SeekableBytes.AbortableBytes;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.MD5MD5CRC32CastagnoliFileChecksum;
import org.apache.hadoop.fs.MultipartUploaderBuilder;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * A Hadoop filesystem in memory that counts requests and fails on demand, so that the committer's
 * own classes run unchanged. Bound to a scheme with {@code fs.<scheme>.impl}; the authority names
 * the {@link MemoryStoreState} behind it, whatever the scheme.
 *
 * <p>Behaves like HDFS: a file is renamed atomically and never onto another; a directory renamed
 * onto a directory goes inside; parents are made by {@code create} and {@code mkdirs}. A file is
 * there, empty, once it is created, and its content comes with a request of its own, "write"; an
 * object comes with its content, by one "write". On {@code abfs} files have etags, which survive a
 * rename. On {@code s3a} a file is there whole or not at all, nothing is renamed, and there are
 * uploads; directories stay when they are empty, as the markers do that S3A puts there.
 */
public class MemoryFileSystem extends MinimalFileSystem {
  /** The key of the name under which a filesystem's requests are shown to a gate. */
  public static final String CLIENT = "memory.filesystem.client";

  /** The key that makes a filesystem answer as a storage account without directories. */
  public static final String FLAT = "memory.filesystem.flat";

  /**
   * The key that makes a filesystem keep directories whose last file was deleted, as a server of
   * S3's protocol with real directories does: the deletion of a tree is that of its objects.
   */
  public static final String KEEPS_DIRECTORIES = "memory.filesystem.keeps.directories";

  /** The key that makes S3 write under conditions, as hadoop-aws 3.4.2 and newer do. */
  public static final String CONDITIONAL = "memory.filesystem.conditional";

  /** What is before an authority in the key that says which other one has the same state. */
  private static final String SAME = "memory.filesystem.same.";

  /** The name of a bucket with hierarchical namespace; see {@link FolderFileSystem}. */
  public static final String GS_FOLDERS = "gs-folders";

  /** The name of S3 by a connector that writes under conditions; see {@link #CONDITIONAL}. */
  public static final String S3_CONDITIONAL = "s3a-conditional";

  private static final List<String> SCHEMES = List.of("hdfs", "abfs", "abfss", "gs", "s3a", "mem");

  /** Who uses it, and owns what is not given away. */
  private static final String USER = System.getProperty("user.name");

  /** In bytes. */
  private static final int LONGEST_NAME = 255;

  private static final Map<String, MemoryStoreState> STATES = new ConcurrentHashMap<>();

  private String client;
  private MemoryStoreState state;
  private volatile boolean closed;

  /** The state behind {@code scheme://authority}, made on first use. */
  public static MemoryStoreState state(String authority) {
    return STATES.computeIfAbsent(authority, name -> new MemoryStoreState());
  }

  /** Lets two authorities stand for one state, that of the first. */
  public static void same(Configuration conf, String authority, String other) {
    conf.set(SAME + other, authority);
  }

  /** The same, with filesystems that all in this process share, until one of them is closed. */
  public static Configuration sharedConfiguration() {
    Configuration conf = configuration();
    for (String scheme : SCHEMES) {
      conf.unset("fs." + scheme + ".impl.disable.cache");
    }
    return conf;
  }

  /** A configuration in which the schemes hdfs, abfs, abfss, gs and mem are served from memory. */
  public static Configuration configuration() {
    Configuration conf = new Configuration(false);
    for (String scheme : SCHEMES) {
      conf.set("fs." + scheme + ".impl", MemoryFileSystem.class.getName());
      conf.set("fs." + scheme + ".impl.disable.cache", "true");
    }
    conf.set("fs.defaultFS", "mem://default");
    // Tests of other processes have jobs of the same names.
    String own = "/s3a-" + ProcessHandle.current().pid();
    conf.set("fs.s3a.buffer.dir", System.getProperty("java.io.tmpdir") + own);
    // Nobody knows mem.
    conf.set(CommitterConfig.ATOMIC_RENAME_SCHEMES, "mem");
    return conf;
  }

  /** The scheme of a store: its name, or what its name begins with. */
  public static String scheme(String store) {
    return store.replaceFirst("-(folders|conditional)$", "");
  }

  /** As {@link #configuration()}, for a store by its name. */
  public static Configuration configuration(String store) {
    Configuration conf = configuration();
    if (store.equals(GS_FOLDERS)) {
      conf.set("fs.gs.impl", FolderFileSystem.class.getName());
    }
    conf.setBoolean(CONDITIONAL, store.equals(S3_CONDITIONAL));
    return conf;
  }

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    state = state(conf.get(SAME + name.getAuthority(), name.getAuthority()));
    client = conf.get(CLIENT, "");
  }

  /** What it holds. */
  final MemoryStoreState state() {
    return state;
  }

  /** Under which name its requests are shown. */
  final String client() {
    return client;
  }

  /** Whether it moves objects is told as Google's connector tells it. */
  public GoogleFileSystem getGcsFs() {
    return () -> () -> () -> true;
  }

  /**
   * Serves no request any more, as a shared filesystem that another user of it closed. As all
   * drivers do, it leaves Hadoop's cache first.
   */
  @Override
  public void close() throws IOException {
    super.close();
    closed = true;
  }

  /** Fails as the drivers of the schemes do, each in its own way. */
  private void requireOpen() throws IOException {
    if (!closed) {
      return;
    }
    switch (getScheme()) {
      case "abfs" -> throw new IllegalStateException("Connection pool shut down");
      case "gs" ->
          throw new IOException("GoogleHadoopFileSystem has been closed or not initialized.");
      default -> throw new IOException("Filesystem closed");
    }
  }

  /** As an account with a hierarchical namespace, unless {@link #FLAT} says otherwise. */
  @Override
  public boolean hasPathCapability(Path path, String capability) {
    if (capability.startsWith(ConditionalWrite.IF_NOTHING)) {
      return writesUnderConditions();
    }
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
        () -> new MD5MD5CRC32CastagnoliFileChecksum(0, 0, MD5Hash.digest(file(path).content)));
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return request(
        "open", path, () -> new FSDataInputStream(new SeekableBytes(file(path).content)));
  }

  @Override
  protected FSDataOutputStream createFile(Path path, boolean overwrite) throws IOException {
    requireOpen();
    if (writesObjects()) {
      return new FSDataOutputStream(
          new AbortableBytes(content -> createFile(path, overwrite, content)), null);
    }
    MemoryStoreState.Node made = createFile(path, overwrite, new byte[0]);
    return new FSDataOutputStream(
        new AbortableBytes(
            content -> {
              requireOpen();
              if (content.length > 0) {
                write(path, made, content);
              }
            }),
        null);
  }

  /** Whether a file is there once it is closed, and not before. */
  private boolean writesObjects() {
    return isS3() || getScheme().equals("gs");
  }

  private boolean writesUnderConditions() {
    return isS3() && getConf().getBoolean(CONDITIONAL, false);
  }

  /** On S3 under a condition, where the connector knows these; else as Hadoop's own. */
  @Override
  public FSDataOutputStreamBuilder<?, ?> createFile(Path path) {
    return writesUnderConditions()
        ? new ConditionalWrite(this, path, (etag, content) -> replace(path, etag, content))
        : super.createFile(path);
  }

  private void replace(Path path, String etag, byte[] content) throws IOException {
    request(
        "write",
        path,
        () -> {
          state.requireUnchanged(key(path), node -> etag(node).equals(etag), !etag.isEmpty());
          return doCreate(path, /* overwrite= */ true, content);
        });
  }

  private MemoryStoreState.Node createFile(Path path, boolean overwrite, byte[] content)
      throws IOException {
    requireOpen();
    return state.request(
        client,
        writesObjects() ? "write" : "create",
        path,
        () -> doCreate(path, overwrite, content),
        () ->
            isS3() ? null : doCreate(path, overwrite, Arrays.copyOf(content, content.length / 2)));
  }

  private MemoryStoreState.Node doCreate(Path path, boolean overwrite, byte[] content)
      throws IOException {
    MemoryStoreState.Node existing = state.get(key(path));
    if (existing != null && (existing.isDirectory() || !overwrite)) {
      throw new FileAlreadyExistsException(path.toString());
    }
    state.requireNotRenamed(key(path));
    requireShortName(path);
    makeDirectories(path.getParent());
    state.requireMayAdd(key(path.getParent()));
    requireRoom(path, existing == null, content.length);
    MemoryStoreState.Node made = MemoryStoreState.Node.file(content);
    state.put(key(path), made);
    return made;
  }

  private void requireRoom(Path path, boolean isNew, int length) throws IOException {
    Shortage shortage = state.shortage();
    shortage.requireRight(path.toString());
    if (shortage.deletesFirst() && !isNew) {
      state.removeTree(key(path));
    }
    if (isNew || shortage.deletesFirst()) {
      shortage.requireNewFile(path.toString());
    }
    if (length > 0) {
      shortage.requireRoom(path.toString());
    }
  }

  /** Gives a file that is there its content; one request, whatever the driver makes of it. */
  private void write(Path path, MemoryStoreState.Node made, byte[] content) throws IOException {
    state.<Void>request(
        client,
        "write",
        path,
        () -> doWrite(path, made, content),
        () -> doWrite(path, made, Arrays.copyOf(content, content.length / 2)));
  }

  /** On Azure a writer knows its file by the path, elsewhere by what it has opened. */
  private Void doWrite(Path path, MemoryStoreState.Node made, byte[] content) throws IOException {
    Optional<String> place =
        getScheme().startsWith("abfs")
            ? Optional.of(key(path)).filter(key -> state.get(key) == made)
            : state.find(made);
    state.shortage().requireRoom(path.toString());
    if (place.isPresent()) {
      state.put(place.get(), MemoryStoreState.Node.file(content));
    } else if (getScheme().startsWith("abfs") || getScheme().equals("hdfs")) {
      throw new FileNotFoundException(path.toString());
    }
    return null;
  }

  /** Refuses a name as a local disk and HDFS do; that of an object is as long as one likes. */
  private void requireShortName(Path path) throws IOException {
    int length = path.getName().getBytes(StandardCharsets.UTF_8).length;
    if (length > LONGEST_NAME && !writesObjects()) {
      throw new IOException(path + " (File name too long)");
    }
  }

  /** Whether it behaves as S3. */
  protected boolean isS3() {
    return getScheme().equals("s3a");
  }

  /** On S3 only. */
  @Override
  public MultipartUploaderBuilder<?, ?> createMultipartUploader(Path path) throws IOException {
    return isS3()
        ? new MemoryUploads(state, this::request).builder(this, path)
        : super.createMultipartUploader(path);
  }

  /**
   * The uploads that wait below a prefix, as S3A lists them.
   *
   * @throws IOException if the request fails
   */
  public RemoteIterator<WaitingUpload> listUploads(String prefix) throws IOException {
    return request(
        "uploads",
        new Path("/" + prefix),
        () -> {
          List<String> ids = state.uploadIds("/" + prefix);
          return RemoteIterators.mappingRemoteIterator(
              RemoteIterators.remoteIteratorFromIterable(ids), WaitingUpload::new);
        });
  }

  /** One of them, as the AWS SDK describes it. */
  public record WaitingUpload(String uploadId) {}

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    requireOpen();
    if (isS3()) {
      throw new IOException("S3 was asked to rename " + source + " to " + destination);
    }
    return state.requestRename(
        client, "rename", source, destination, () -> doRename(source, destination));
  }

  private boolean doRename(Path source, Path destination) throws IOException {
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
    requireShortName(target);
    state.requireNothingRenamed(key(source));
    state.requireNothingRenamed(key(target));
    state.requireMayRemove(key(source));
    state.requireMayAdd(key(target.getParent()));
    state.move(key(source), key(target));
    if (node.content != null && getScheme().equals("gs")) {
      state.renew(key(target));
    }
    return true;
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    requireOpen();
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
    state.requireNothingRenamed(key);
    state.requireMayRemoveTree(key);
    if (state.hasChildren(key) && getConf().getBoolean(KEEPS_DIRECTORIES, false)) {
      state.removeFiles(key);
    } else {
      state.removeTree(key);
    }
    return true;
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return request(
        "list",
        path,
        () -> {
          MemoryStoreState.Node node = existing(path);
          if (!node.isDirectory()) {
            return new FileStatus[] {status(path, node)};
          }
          List<FileStatus> children = new ArrayList<>();
          state.forEachChild(
              key(path),
              (childPath, child) -> {
                String name = childPath.substring(childPath.lastIndexOf('/') + 1);
                children.add(status(new Path(path, new Path(null, null, name)), child));
              });
          return children.toArray(new FileStatus[0]);
        });
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
    return request("status", path, () -> status(path, existing(path)));
  }

  @Override
  public void access(Path path, FsAction mode) throws IOException {
    request(
        "access",
        path,
        () -> {
          existing(path);
          if (mode.implies(FsAction.WRITE)) {
            state.requireMayAdd(key(path));
          }
          return null;
        });
  }

  private MemoryStoreState.Node existing(Path path) throws FileNotFoundException {
    MemoryStoreState.Node node = state.get(key(path));
    if (node == null) {
      throw new FileNotFoundException(path.toString());
    }
    return node;
  }

  private MemoryStoreState.Node file(Path path) throws FileNotFoundException {
    MemoryStoreState.Node node = existing(path);
    if (node.isDirectory()) {
      throw new FileNotFoundException(path.toString());
    }
    return node;
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
        if (!missing.isEmpty()) {
          state.requireMayAdd(key(path));
        }
        break;
      }
      requireShortName(path);
      missing.push(path);
    }
    for (Path path : missing) {
      state.shortage().requireNewDirectory(path.toString());
      state.put(key(path), MemoryStoreState.Node.directory());
    }
  }

  /** A request that has no half of an effect. */
  private <T> T request(String operation, Path path, Callable<T> action) throws IOException {
    requireOpen();
    return state.request(client, operation, path, action, () -> null);
  }

  /** Of an object on S3: the hash of its content, or of the parts that it was made of. */
  private static String etag(MemoryStoreState.Node node) {
    return node.etag.startsWith("etag-") ? MemoryUploads.etag(node.content) : node.etag;
  }

  private FileStatus status(Path at, MemoryStoreState.Node node) {
    Path path = qualified(at.toUri().getPath());
    if (node.isDirectory() && node.foreign) {
      FsPermission permission =
          new FsPermission((short) (node.sticky ? 01777 : node.readOnly ? 0755 : 0777));
      return new FileStatus(0, true, 1, 1, 0, 0, permission, "somebody", "others", path);
    }
    if (node.isDirectory()) {
      // S3A knows no time of a directory. That of HDFS changes with its entries.
      long time = isS3() ? state.time() : getScheme().equals("hdfs") ? node.time : 0;
      return new FileStatus(0, true, 1, 1, time, path);
    }
    String owner = node.foreign ? "somebody" : USER;
    if (isS3()) {
      // In quotes, as some versions of S3A give it.
      return new EtagStatus(node.content.length, node.time, owner, path, '"' + etag(node) + '"');
    }
    return getScheme().equals("abfs")
        ? new EtagStatus(node.content.length, node.time, owner, path, node.etag)
        : new FileStatus(node.content.length, false, 1, 1, node.time, 0, null, owner, "", path);
  }

  /** Of Google's connector, as far as it tells whether it moves objects. */
  public interface GoogleFileSystem {
    /** Its options. */
    GoogleFileSystemOptions getOptions();
  }

  /** See {@link GoogleFileSystem}. */
  public interface GoogleFileSystemOptions {
    /** Those of its storage. */
    GoogleStorageOptions getCloudStorageOptions();
  }

  /** See {@link GoogleFileSystem}. */
  public interface GoogleStorageOptions {
    /** Whether a rename moves an object. */
    boolean isMoveOperationEnabled();
  }
}
