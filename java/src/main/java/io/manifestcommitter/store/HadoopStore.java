package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * A store through Hadoop's public {@link FileSystem} interface, which every Hadoop version and
 * connector has.
 *
 * <p>Relies on: consistent listings; a rename of one file that is atomic and refuses an existing
 * destination; a non-recursive delete that refuses a directory with content. HDFS, ABFS and GCS
 * document all three.
 */
public class HadoopStore implements Store {
  private static final int EMPTY_DELETE_TRIES = 3;

  private final FileSystem fs;
  private final StoreTraits traits;
  private final RequestRate rate;

  /** A store on {@code fs} that claims {@code traits} and makes its requests at {@code rate}. */
  public HadoopStore(FileSystem fs, StoreTraits traits, RequestRate rate) {
    this.fs = Objects.requireNonNull(fs);
    this.traits = Objects.requireNonNull(traits);
    this.rate = Objects.requireNonNull(rate);
  }

  @Override
  public StoreTraits traits(Path path) {
    return traits;
  }

  @Override
  public Optional<StoreEntry> status(Path path) throws IOException {
    try {
      return Optional.of(entry(path, request().getFileStatus(path)));
    } catch (FileNotFoundException e) {
      return Optional.empty();
    }
  }

  @Override
  public void list(Path directory, Visitor visitor) throws IOException {
    RemoteIterator<FileStatus> entries = request().listStatusIterator(directory);
    while (entries.hasNext()) {
      visitor.visit(child(directory, entries.next()));
    }
  }

  @Override
  public void mkdirs(Path directory) throws IOException {
    if (!request().mkdirs(directory)
        && !status(directory).filter(StoreEntry::isDirectory).isPresent()) {
      throw new IOException(
          "The store did not make the directory " + directory + " and gave no reason");
    }
  }

  @Override
  public RenameResult renameFile(FileEntry file) {
    return rename(file.source(), file.destination(), entry -> entry.isSameFileAs(file));
  }

  @Override
  public RenameResult renameDirectory(Path source, Path destination) {
    return rename(source, destination, StoreEntry::isDirectory);
  }

  @Override
  public void deleteFile(Path file) throws IOException {
    delete(file, Depth.ENTRY);
  }

  @Override
  public boolean deleteEmptyDirectory(Path directory) throws IOException {
    for (int tries = 1; ; tries++) {
      try {
        delete(directory, Depth.ENTRY);
        return true;
      } catch (IOException e) {
        if (hasContent(directory)) {
          return false;
        }
        // What was in it may have gone since, as another job's directory goes from _temporary.
        if (tries == EMPTY_DELETE_TRIES) {
          throw e;
        }
      }
    }
  }

  @Override
  public void deleteTree(Path directory) throws IOException {
    delete(directory, Depth.TREE);
  }

  @Override
  public byte[] read(Path file, int limit) throws IOException {
    byte[] content = readStart(file, Math.addExact(limit, 1));
    if (content.length > limit) {
      throw new IOException(
          file + " has more than the " + limit + " bytes that such a file can have");
    }
    return content;
  }

  @Override
  public byte[] readStart(Path file, int length) throws IOException {
    try (FSDataInputStream in = request().open(file)) {
      return in.readNBytes(length);
    }
  }

  @Override
  public void write(Path file, Content content) throws IOException {
    try (OutputStream out = request().create(file, true)) {
      content.writeTo(out);
    }
  }

  @Override
  public String toString() {
    return getClass().getSimpleName() + "(" + fs.getUri() + ", " + traits + ")";
  }

  /** The filesystem, for the one request that may now be made. */
  protected final FileSystem request() throws IOException {
    rate.await();
    return fs;
  }

  /**
   * What tells a file from every other one, and stays the same in a rename; empty where nothing
   * does.
   */
  protected String etag(FileStatus status) {
    return traits.renameKeepsEtag() && status instanceof EtagSource
        ? ((EtagSource) status).getEtag()
        : "";
  }

  /**
   * An entry of a listing, under a path below the directory as the caller wrote it: some
   * filesystems answer with another form of the same authority, and paths are compared.
   */
  protected final StoreEntry child(Path directory, FileStatus status) {
    boolean self = status.getPath().toUri().getPath().equals(directory.toUri().getPath());
    return entry(
        self ? directory : StorePaths.resolve(directory, status.getPath().getName()), status);
  }

  /** What a status says, with the identity that a rename keeps here and no other. */
  private StoreEntry entry(Path path, FileStatus status) {
    if (status.isDirectory()) {
      return StoreEntry.directory(path);
    }
    long time = traits.renameKeepsModificationTime() ? status.getModificationTime() : 0;
    return StoreEntry.file(path, status.getLen(), etag(status), time);
  }

  private RenameResult rename(Path source, Path destination, Recognition isOurs) {
    IOException refusal = null;
    try {
      if (request().rename(source, destination)) {
        return RenameResult.renamed();
      }
    } catch (IOException e) {
      refusal = e;
    }
    return proveRename(source, destination, isOurs, refusal);
  }

  /** Looks at both ends of a rename that the store did not confirm. */
  private RenameResult proveRename(
      Path source, Path destination, Recognition isOurs, IOException refusal) {
    String answer =
        "rename of "
            + source
            + " to "
            + destination
            + (refusal == null ? " was refused without a reason" : " failed (" + refusal + ")");
    Optional<StoreEntry> atDestination;
    Optional<StoreEntry> atSource;
    try {
      atDestination = status(destination);
      atSource = status(source);
    } catch (IOException e) {
      if (refusal != null) {
        e.addSuppressed(refusal);
      }
      return RenameResult.unknown(answer + " and its outcome could not be looked at", e);
    }
    boolean oursAtDestination = atDestination.filter(isOurs::matches).isPresent();
    boolean oursAtSource = atSource.filter(isOurs::matches).isPresent();
    if (oursAtDestination && !atSource.isPresent()) {
      return RenameResult.recovered(answer + " but was done", refusal);
    }
    if (oursAtSource && !atDestination.isPresent()) {
      return RenameResult.failed(answer + "; the source is still there", refusal);
    }
    if (oursAtSource && !oursAtDestination) {
      return RenameResult.failed(answer + "; something else stands at the destination", refusal)
          .inTheWay(atDestination.get());
    }
    RenameResult unknown =
        RenameResult.unknown(
            answer
                + "; at the source there is "
                + seen(atSource)
                + ", at the destination "
                + seen(atDestination),
            refusal);
    return oursAtSource ? unknown.inTheWay(atDestination.get()) : unknown;
  }

  private static String seen(Optional<StoreEntry> entry) {
    return entry.map(StoreEntry::toString).orElse("nothing");
  }

  private void delete(Path path, Depth depth) throws IOException {
    boolean deleted;
    try {
      deleted = request().delete(path, depth == Depth.TREE);
    } catch (FileNotFoundException e) {
      return;
    }
    if (!deleted && status(path).isPresent()) {
      throw new IOException("The store did not delete " + path + " and gave no reason");
    }
  }

  private boolean hasContent(Path directory) throws IOException {
    try {
      return request().listStatusIterator(directory).hasNext();
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  private enum Depth {
    ENTRY,
    TREE
  }

  /** Tells whether an entry is what was renamed. */
  private interface Recognition {
    boolean matches(StoreEntry entry);
  }
}
