// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileIdentity;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigInteger;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.util.functional.RemoteIterators;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Google Cloud Storage by the client of Google's connector. A renamed file costs one request.
 * Listings have the hash and the generation of each object, which {@code FileSystem} does not show.
 */
final class GcsClient {
  private static final Logger LOG = LoggerFactory.getLogger(GcsClient.class);

  /** What is asked of an object ("Partial responses"): what {@link Found} needs. */
  private static final String FIELDS = "bucket,name,size,updated,generation,crc32c";

  private static final int MOST_FREE = 100_000;
  private static final long ANY = -1;
  private static final long NONE = 0;

  private final FileSystem fs;
  private final GcsCalls calls;
  private final Object storage;
  private final Map<GcsCalls.Listing, Object> listings = new EnumMap<>(GcsCalls.Listing.class);
  private final Optional<GcsFolders> folders;
  private final Object overwriting;

  /** Where no file stood, nor at a parent, when it was looked at. */
  private final Set<Path> free = ConcurrentHashMap.newKeySet();

  /**
   * The client of a filesystem. One request, and none where another client of this JVM made it in
   * the last ten minutes: whether the bucket has a hierarchical namespace.
   *
   * @throws ReflectiveOperationException if the connector has none that can be used
   */
  GcsClient(FileSystem fs) throws ReflectiveOperationException {
    this.fs = fs;
    this.calls = new GcsCalls(fs.getClass());
    this.storage = calls.storage(fs);
    this.folders = folders();
    this.overwriting = calls.overwriting();
    for (GcsCalls.Listing listing : GcsCalls.Listing.values()) {
      listings.put(listing, calls.options(listing, FIELDS, folders.isPresent()));
    }
  }

  /** Of a bucket with hierarchical namespace. */
  private Optional<GcsFolders> folders() throws ReflectiveOperationException {
    try {
      if ((boolean) DriverCall.invoke(calls.isHierarchical, storage, fs.getUri().resolve("/"))) {
        return Optional.of(new GcsFolders(storage, bucket()));
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn(
          "{} does not say whether its namespace is hierarchical: it is taken for flat, and"
              + " directories are written file by file",
          fs.getUri(),
          e);
    }
    return Optional.empty();
  }

  private String bucket() {
    return fs.getUri().getAuthority();
  }

  /** Whether directories are folders, which can be renamed. */
  boolean isHierarchical() {
    return folders.isPresent();
  }

  /** Whether it is that of a filesystem. */
  boolean isOf(FileSystem other) {
    return fs == other;
  }

  /**
   * Moves an object to where none is. One request.
   *
   * @param generation of the object that is moved, or none is; 0 for whatever is there
   */
  void move(Path source, long generation, Path destination) throws IOException {
    Object moved = id(source, generation == 0 ? ANY : generation);
    DriverCall.invoke(calls.move, storage, Map.of(moved, id(destination, NONE)));
  }

  /**
   * What is at a path. One request for a file, two for a directory, or for nothing.
   *
   * @throws FileNotFoundException if there is nothing
   */
  FileStatus status(Path path) throws IOException {
    String name = name(path);
    if (!name.isEmpty()) {
      Object item = DriverCall.invoke(calls.itemInfo, storage, id(path, ANY));
      if ((boolean) DriverCall.invoke(calls.exists, item)) {
        return found(item, path);
      }
    }
    if (folders.isPresent() && !name.isEmpty()) {
      if (folders.get().has(directoryName(path))) {
        return new Found(0, true, 0, path, "");
      }
      throw nothingAt(path);
    }
    List<?> items = items(page(path, null));
    if (items.isEmpty() && !name.isEmpty()) {
      throw nothingAt(path);
    }
    for (Object item : items) {
      if (objectName(item).equals(directoryName(path))) {
        return found(item, path);
      }
    }
    return new Found(0, true, 0, path, "");
  }

  private static FileNotFoundException nothingAt(Path path) {
    return new FileNotFoundException("There is nothing at " + path);
  }

  /**
   * Begins to list a directory. One request a page; where the first one is empty also those of
   * {@link #status}.
   */
  RemoteIterator<FileStatus> list(Path directory) throws IOException {
    Object first = page(directory, null);
    if (!items(first).isEmpty()) {
      return new Pages(directory, first);
    }
    FileStatus status = status(directory);
    return RemoteIterators.remoteIteratorFromIterable(
        status.isDirectory() ? List.of() : List.of(status));
  }

  /**
   * Makes the object that stands for a directory. One request, and one more if it is there.
   *
   * @throws FileAlreadyExistsException if a file stands at the path or at one of its parents; one
   *     request for each of them that was not found free before
   */
  void mkdirs(Path directory) throws IOException {
    List<Path> looked = new ArrayList<>();
    for (Path level = directory;
        !name(level).isEmpty() && !free.contains(level);
        level = level.getParent()) {
      Object item = DriverCall.invoke(calls.itemInfo, storage, id(level, ANY));
      if ((boolean) DriverCall.invoke(calls.exists, item)) {
        throw new FileAlreadyExistsException(
            directory + " cannot be made: " + level + " is a file");
      }
      looked.add(level);
    }
    if (free.size() < MOST_FREE) {
      free.addAll(looked);
    }
    if (!name(directory).isEmpty()) {
      Object id = calls.id(bucket(), directoryName(directory), ANY);
      DriverCall.invoke(calls.createEmpty, storage, id);
    }
  }

  /** Renames a folder, as {@link GcsFolders#rename}. */
  void renameFolder(Path source, Path destination) throws IOException {
    folders.orElseThrow().rename(directoryName(source), directoryName(destination));
  }

  /** As {@link GcsFolders#awaitRenames}. */
  void awaitRenames(Path directory) throws IOException {
    folders.orElseThrow().awaitRenames(directoryName(directory));
  }

  /**
   * Deletes all objects below a folder, then the folders. A request for each, and for each page of
   * both.
   *
   * @return whether there was anything
   * @throws IOException also if somebody writes there meanwhile
   */
  boolean deleteFolder(Path directory) throws IOException {
    boolean isDeleted = false;
    String token = null;
    do {
      Object page = page(directory, GcsCalls.Listing.TREE, token);
      List<Object> objects = new ArrayList<>();
      for (Object item : items(page)) {
        objects.add(calls.id(bucket(), objectName(item), generation(item)));
      }
      if (!objects.isEmpty()) {
        DriverCall.invoke(calls.delete, storage, objects);
        isDeleted = true;
      }
      token = (String) DriverCall.invoke(calls.nextPageToken, page);
    } while (token != null);
    for (String folder : folders.orElseThrow().within(directoryName(directory))) {
      if (!folders.get().delete(folder)) {
        throw new IOException("The folder " + folder + " is not empty: somebody writes there");
      }
      isDeleted = true;
    }
    return isDeleted;
  }

  /**
   * Deletes a folder in which nothing is but the object that stands for it.
   *
   * @return whether there is none of that name now
   */
  boolean deleteEmptyFolder(Path directory) throws IOException {
    String name = directoryName(directory);
    List<Object> own = new ArrayList<>();
    for (Object item : items(page(directory, null))) {
      if (!objectName(item).equals(name)) {
        return false;
      }
      own.add(calls.id(bucket(), name, generation(item)));
    }
    if (!own.isEmpty()) {
      DriverCall.invoke(calls.delete, storage, own);
    }
    return folders.orElseThrow().delete(name);
  }

  private long generation(Object item) throws IOException {
    return (long) DriverCall.invoke(calls.generation, item);
  }

  /**
   * Begins to write an object: where none is, then closing the stream fails if there is one; or in
   * the place of another one, which is one request more.
   */
  OutputStream create(Path path, boolean mayReplace) throws IOException {
    Object id = id(path, mayReplace ? ANY : NONE);
    return Channels.newOutputStream(
        (WritableByteChannel) DriverCall.invoke(calls.create, storage, id, overwriting));
  }

  private Object page(Path directory, String token) throws IOException {
    boolean isBucket = name(directory).isEmpty();
    return page(directory, isBucket ? GcsCalls.Listing.BUCKET : GcsCalls.Listing.DIRECTORY, token);
  }

  private Object page(Path directory, GcsCalls.Listing listing, String token) throws IOException {
    String prefix = name(directory).isEmpty() ? null : directoryName(directory);
    Object options = listings.get(listing);
    return DriverCall.invoke(calls.listPage, storage, bucket(), prefix, options, token);
  }

  private List<?> items(Object page) throws IOException {
    return (List<?>) DriverCall.invoke(calls.items, page);
  }

  private Object id(Path path, long generation) throws IOException {
    return calls.id(bucket(), name(path), generation);
  }

  private String objectName(Object item) throws IOException {
    String name = (String) DriverCall.invoke(calls.objectName, item);
    return name == null ? "" : name;
  }

  private static String name(Path path) {
    String absolute = path.toUri().getPath();
    return absolute.isEmpty() ? absolute : absolute.substring(1);
  }

  /** Of the object that stands for a directory, if there is one; of the bucket itself "". */
  private static String directoryName(Path path) {
    String name = name(path);
    return name.isEmpty() ? name : name + "/";
  }

  private Path path(String name) {
    String plain = name.endsWith("/") ? name.substring(0, name.length() - 1) : name;
    return new Path(fs.getUri().getScheme(), fs.getUri().getAuthority(), "/" + plain);
  }

  private FileStatus found(Object item, Path path) throws IOException {
    long time = (long) DriverCall.invoke(calls.modificationTime, item);
    if (objectName(item).endsWith("/")) {
      return new Found(0, true, time, path, "");
    }
    long generation = generation(item);
    Object hashes = DriverCall.invoke(calls.hashes, item);
    byte[] crc32c = hashes == null ? null : (byte[]) DriverCall.invoke(calls.crc32c, hashes);
    String etag =
        crc32c == null
            ? ""
            : FileIdentity.ofObject(new BigInteger(1, crc32c).toString(16), generation);
    return new Found((long) DriverCall.invoke(calls.size, item), false, time, path, etag);
  }

  /** A listing, page by page; it leaves out the object that stands for the directory itself. */
  private final class Pages implements RemoteIterator<FileStatus> {
    private final Path directory;
    private final String own;
    private Iterator<?> page;
    private String token;
    private FileStatus next;

    Pages(Path directory, Object first) throws IOException {
      this.directory = directory;
      this.own = directoryName(directory);
      turnTo(first);
    }

    private void turnTo(Object read) throws IOException {
      page = items(read).iterator();
      token = (String) DriverCall.invoke(calls.nextPageToken, read);
    }

    @Override
    public boolean hasNext() throws IOException {
      while (next == null) {
        if (page.hasNext()) {
          Object item = page.next();
          String name = objectName(item);
          next = name.equals(own) ? null : found(item, path(name));
        } else if (token != null) {
          turnTo(page(directory, token));
        } else {
          return false;
        }
      }
      return true;
    }

    @Override
    public FileStatus next() throws IOException {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      FileStatus found = next;
      next = null;
      return found;
    }
  }

  /** An object, with what identifies it. */
  private static final class Found extends FileStatus implements EtagSource {
    private static final long serialVersionUID = 1L;

    private final String etag;

    Found(long length, boolean isDirectory, long time, Path path, String etag) {
      super(length, isDirectory, 1, 0, time, path);
      this.etag = etag;
    }

    @Override
    public String getEtag() {
      return etag;
    }
  }
}
