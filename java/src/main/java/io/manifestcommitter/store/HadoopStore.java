// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.NameIndex;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;
import org.apache.hadoop.util.functional.RemoteIterators;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store through Hadoop's public {@link FileSystem} interface, which every Hadoop version and
 * connector has. What its methods do is said at those of {@link Store}, which call them.
 *
 * <p>Relies on: consistent listings; a rename of one file that refuses an existing destination, and
 * is as the traits say; a non-recursive delete that refuses a directory with content. HDFS, ABFS
 * and GCS document all three.
 */
public class HadoopStore {
  private static final Logger LOG = LoggerFactory.getLogger(HadoopStore.class);

  private static final int EMPTY_DELETE_TRIES = 3;

  /** Entries of a directory, at a kilobyte each in the heap, that a driver may hold at once. */
  private static final int MANY = 20_000;

  private volatile FileSystem fs;
  private final StoreTraits traits;
  private final RequestGate gate;
  private final AtomicLong knownRefusals;

  /** Files that are there and have no content yet. */
  private final Map<Path, OutputStream> created = new ConcurrentHashMap<>();

  /**
   * A store on {@code fs} that claims {@code traits} and makes its requests through {@code gate}.
   */
  public HadoopStore(FileSystem fs, StoreTraits traits, RequestGate gate) {
    this.fs = Objects.requireNonNull(fs);
    this.traits = Objects.requireNonNull(traits);
    this.gate = Objects.requireNonNull(gate);
    this.knownRefusals = new AtomicLong(refusals());
  }

  public StoreTraits traits(Path path) {
    return traits;
  }

  public Optional<StoreEntry> status(Path path) throws IOException {
    try {
      FileStatus status = ask(RequestKind.LOOK, path, () -> requestStatus(path));
      return Optional.of(identified(entry(path, status)));
    } catch (FileNotFoundException e) {
      return Optional.empty();
    }
  }

  public void list(Path directory, int expected, ConsumerRaisingIOE<StoreEntry> visitor)
      throws IOException {
    try (Listing listing = new Listing(directory, expected >= MANY)) {
      for (List<FileStatus> batch = listing.next(); !batch.isEmpty(); batch = listing.next()) {
        for (FileStatus status : batch) {
          visitor.accept(child(directory, status));
        }
      }
    }
    tellRefusals();
  }

  public StoreEntry identified(StoreEntry entry) throws IOException {
    return entry;
  }

  public void mkdirs(Path directory) throws IOException {
    if (!ask(RequestKind.MAKE_DIRECTORIES, directory, () -> requestMkdirs(directory))
        && !status(directory).filter(StoreEntry::isDirectory).isPresent()) {
      throw new IOException(
          "The store did not make the directory " + directory + ": it gave no reason");
    }
  }

  public RenameResult renameFile(FileEntry file) {
    return rename(
        file.source(),
        file.destination(),
        () -> ask(RequestKind.RENAME, file.source(), () -> requestRename(file)),
        entry -> entry.isSameFileAs(file));
  }

  public RenameResult completeUpload(FileEntry upload) {
    return RenameResult.failed(
        "a task uploaded it, but its store publishes by renaming. Driver and executors need the same"
            + " settings of that store",
        null);
  }

  public FileUpload newUpload(File local, Path destination) throws IOException {
    throw new UnsupportedOperationException(destination + " is published by a rename");
  }

  public void abortUpload(FileEntry file) throws IOException {}

  public Optional<Set<String>> waitingUploads(Path directory) throws IOException {
    return Optional.empty();
  }

  public RenameResult renameDirectory(Path source, Path destination) {
    CallableRaisingIOE<Boolean> request =
        onceOnly(source, destination, () -> requestDirectoryRename(source, destination));
    return rename(
        source,
        destination,
        () -> askLong(RequestKind.RENAME, source, request),
        StoreEntry::isDirectory);
  }

  /**
   * The rename of a directory, which may be asked for again after the store refused it. From the
   * second time on it looks first: most stores would put a directory that was renamed, and made
   * again since, inside itself. Its answer is no also if there is nothing left to be asked for.
   */
  final CallableRaisingIOE<Boolean> onceOnly(
      Path source, Path destination, CallableRaisingIOE<Boolean> rename) {
    boolean[] asked = {false};
    return () -> {
      if (asked[0] && (exists(destination) || !exists(source))) {
        return false;
      }
      asked[0] = true;
      return rename.apply();
    };
  }

  /** Inside of another request. */
  final boolean exists(Path path) throws IOException {
    try {
      requestStatus(path);
      return true;
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  public void awaitRenames(Path directory, boolean ofAnybody) throws IOException {}

  /** What an unknown store would refuse shows only when it is tried. */
  public Optional<String> deletionDenied(
      Path directory, Optional<StoreEntry> seen, Iterable<Path> entries) throws IOException {
    return Optional.empty();
  }

  public void deleteFile(Path file) throws IOException {
    delete(file, () -> ask(RequestKind.DELETE, file, () -> fs.delete(file, false)));
  }

  public boolean deleteEmptyDirectory(Path directory) throws IOException {
    for (int tries = 1; ; tries++) {
      try {
        deleteFile(directory);
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

  public void deleteTree(Path directory) throws IOException {
    delete(
        directory,
        () -> askLong(RequestKind.DELETE, directory, () -> requestTreeDeletion(directory)));
  }

  public byte[] readStart(Path file, int length) throws IOException {
    return askLong(
        RequestKind.READ,
        file,
        () -> {
          try (FSDataInputStream in = fs.open(file)) {
            return in.readNBytes(length);
          }
        });
  }

  public long modified(Path file) throws IOException {
    return ask(RequestKind.LOOK, file, () -> requestStatus(file)).getModificationTime();
  }

  public void create(Path file) throws IOException {
    if (traits.createsBeforeContent()) {
      release(file);
      created.put(file, askLong(RequestKind.WRITE, file, () -> fs.create(file, true)));
    }
  }

  public boolean fill(Path file, ConsumerRaisingIOE<OutputStream> content) throws IOException {
    OutputStream made = created.remove(file);
    if (made == null) {
      return false;
    }
    try (OutputStream out = made) {
      content.accept(out);
    } catch (FileNotFoundException e) {
      throw e;
    } catch (IOException | RuntimeException | FSError e) {
      LOG.warn("{} could not be filled, and is written again", file, e);
      return false;
    } finally {
      tellRefusals();
    }
    return true;
  }

  public void release(Path file) {
    OutputStream made = created.remove(file);
    if (made != null) {
      try {
        made.close();
      } catch (IOException | RuntimeException | FSError e) {
        LOG.debug("{} was not closed", file, e);
      }
    }
  }

  public void write(Path file, ConsumerRaisingIOE<OutputStream> content) throws IOException {
    if (fill(file, content)) {
      return;
    }
    makeLong(RequestKind.WRITE, file, () -> requestWrite(file, content));
  }

  public void replace(Path file, Optional<StoreEntry> seen, byte[] content) throws IOException {
    throw new UnsupportedOperationException(file + " is in a store that does not compare");
  }

  /** Why the committer cannot serve tables at a path, and what to do; empty if it can. */
  public Optional<String> shortcoming(Path path) throws IOException {
    return Optional.empty();
  }

  /**
   * Whether a URI with another scheme or authority than {@link #fs} has leads to the same store.
   * Hadoop does not mind the case of an authority. Makes no request to a store.
   */
  protected boolean isAlsoCalled(URI uri) {
    String authority = fs.getUri().getAuthority();
    return authority != null
        && fs.getUri().getScheme().equals(uri.getScheme())
        && authority.equalsIgnoreCase(uri.getAuthority());
  }

  /** The filesystem, another one once it was closed. Requests go through {@link #ask}. */
  protected final FileSystem fs() {
    return fs;
  }

  /**
   * Looks at a path.
   *
   * @throws FileNotFoundException if there is nothing
   */
  protected FileStatus requestStatus(Path path) throws IOException {
    return fs.getFileStatus(path);
  }

  /** Makes a directory with its parents. */
  protected boolean requestMkdirs(Path directory) throws IOException {
    return fs.mkdirs(directory);
  }

  /** Writes a file, in the place of one that is there. */
  protected void requestWrite(Path file, ConsumerRaisingIOE<OutputStream> content)
      throws IOException {
    try (OutputStream out = fs.create(file, true)) {
      content.accept(out);
    }
  }

  /** Makes the one request that renames a file; its outcome is proven by the caller. */
  protected boolean requestRename(FileEntry file) throws IOException {
    return fs.rename(file.source(), file.destination());
  }

  /** Makes the one request that renames a directory; its outcome is proven by the caller. */
  protected boolean requestDirectoryRename(Path source, Path destination) throws IOException {
    return fs.rename(source, destination);
  }

  /** Begins to list a directory. An iterator that is {@link java.io.Closeable} is closed. */
  protected RemoteIterator<FileStatus> requestListing(Path directory) throws IOException {
    return fs.listStatusIterator(directory);
  }

  /** Begins to list a directory with so many entries that they should come page by page. */
  protected RemoteIterator<FileStatus> requestLongListing(Path directory) throws IOException {
    return requestListing(directory);
  }

  /**
   * How often the store has refused a request that its driver then made again without a word, since
   * the driver was loaded; 0 where that is not counted. Called before a subclass is initialised.
   */
  protected long refusals() {
    return 0;
  }

  /** Makes one request; {@code subject} names it in an error. */
  final <T> T ask(RequestKind kind, Path subject, CallableRaisingIOE<T> request)
      throws IOException {
    return explained(kind, subject, () -> gate.pass(kind, subject, () -> reopening(request)));
  }

  /** As {@link #ask}, for requests that take long by themselves. */
  final <T> T askLong(RequestKind kind, Path subject, CallableRaisingIOE<T> request)
      throws IOException {
    return explained(kind, subject, () -> gate.passLong(kind, subject, () -> reopening(request)));
  }

  /** As {@link #askLong}, for a request without an answer. */
  final void makeLong(RequestKind kind, Path subject, InvocationRaisingIOE request)
      throws IOException {
    askLong(
        kind,
        subject,
        () -> {
          request.apply();
          return true;
        });
  }

  /**
   * Looks whether a request may be made at a path.
   *
   * @throws IOException if it may not
   */
  protected void requireMayAsk(RequestKind kind, Path path) throws IOException {}

  private <T> T explained(RequestKind kind, Path subject, CallableRaisingIOE<T> passed)
      throws IOException {
    requireMayAsk(kind, subject);
    try {
      return passed.apply();
    } catch (IllegalArgumentException e) {
      // What drivers throw for names that their store does not take.
      throw new IOException(
          "The store's driver refused " + kind.of(subject) + ": " + e.getMessage(), e);
    } catch (FSError e) {
      throw diskFailed(kind.of(subject), e);
    } finally {
      tellRefusals();
    }
  }

  /**
   * Makes a request, and once more if the filesystem was closed meanwhile: it is shared with all
   * others in this process, of which any may close it. As with any request that is made again, the
   * first try may have had its effect.
   */
  private <T> T reopening(CallableRaisingIOE<T> request) throws IOException {
    FileSystem used = fs;
    try {
      return checked(request);
    } catch (FileNotFoundException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      if (!reopen(used, e)) {
        throw e;
      }
      return checked(request);
    }
  }

  /** Drivers that speak gRPC throw its failures unchecked. */
  private static <T> T checked(CallableRaisingIOE<T> request) throws IOException {
    try {
      return request.apply();
    } catch (IllegalArgumentException | UncheckedIOException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new IOException("The store's driver failed: " + e, e);
    }
  }

  /**
   * Whether a filesystem was closed, so that there is another one by now. Drivers say so each in
   * its own way, or break in odd ones; but a closed one is not in Hadoop's cache any more.
   */
  private synchronized boolean reopen(FileSystem used, Exception failure) {
    if (used != fs) {
      return true;
    }
    Configuration conf = used.getConf();
    String scheme = used.getUri().getScheme();
    if (conf == null || conf.getBoolean("fs." + scheme + ".impl.disable.cache", false)) {
      return false;
    }
    try {
      fs = FileSystem.get(used.getUri(), conf);
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
      return false;
    }
    if (fs != used) {
      LOG.warn("The filesystem {} was closed by somebody else, and is opened again", used, failure);
    }
    return fs != used;
  }

  /** By an {@link Error} Hadoop's local filesystem says, above all, that the disk is full. */
  private static IOException diskFailed(String what, FSError e) {
    return new IOException(
        "The disk failed "
            + what
            + " ("
            + e.getMessage()
            + "). If it is full, or a quota is used up: make room there, then run this again",
        e);
  }

  private void tellRefusals() {
    long now = refusals();
    gate.hidden(now - knownRefusals.getAndSet(now));
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
    Path path = status.getPath();
    boolean self = path.toUri().getPath().equals(directory.toUri().getPath());
    return entry(self ? directory : StorePaths.child(directory, path), status);
  }

  /** What new entries of a directory inherit from it. */
  protected Rights rights(FileStatus directory) {
    return new Rights(directory, "");
  }

  /** What a status says, with the identity that a rename keeps here and no other. */
  protected StoreEntry entry(Path path, FileStatus status) {
    if (status.isDirectory()) {
      return StoreEntry.directory(path, () -> rights(status))
          .lastWritten(status.getModificationTime());
    }
    long time = traits.renameKeepsModificationTime() ? status.getModificationTime() : 0;
    return StoreEntry.file(path, status.getLen(), etag(status), time)
        .lastWritten(status.getModificationTime());
  }

  private RenameResult rename(
      Path source,
      Path destination,
      CallableRaisingIOE<Boolean> request,
      Predicate<StoreEntry> isOurs) {
    IOException refusal = null;
    try {
      if (request.apply()) {
        return RenameResult.renamed();
      }
    } catch (IOException e) {
      refusal = e;
    }
    return proveRename(source, destination, isOurs, refusal);
  }

  /** Looks at both ends of a rename that the store did not confirm. */
  private RenameResult proveRename(
      Path source, Path destination, Predicate<StoreEntry> isOurs, IOException refusal) {
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
    boolean oursAtDestination = atDestination.filter(isOurs).isPresent();
    boolean oursAtSource = atSource.filter(isOurs).isPresent();
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

  private void delete(Path path, CallableRaisingIOE<Boolean> deletion) throws IOException {
    boolean isDone;
    try {
      isDone = deletion.apply();
    } catch (FileNotFoundException e) {
      return;
    }
    if (!isDone && status(path).isPresent()) {
      Optional<String> denied = deletionDenied(path.getParent(), Optional.empty(), List.of(path));
      throw new IOException(
          "The store did not delete " + path + ": " + denied.orElse("it gave no reason"));
    }
  }

  /** Deletes a directory and all below it; false if there was none. */
  protected boolean requestTreeDeletion(Path directory) throws IOException {
    return fs.delete(directory, true);
  }

  private boolean hasContent(Path directory) throws IOException {
    try {
      return ask(
          RequestKind.LIST,
          directory,
          () -> {
            RemoteIterator<FileStatus> listed = requestListing(directory);
            boolean hasContent = listed.hasNext();
            RemoteIterators.cleanupRemoteIterator(listed);
            return hasContent;
          });
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  /**
   * The listing of one directory, in batches, so that a directory of any size can be gone through.
   * A page that the store refuses is asked for again with all pages before it: the drivers'
   * iterators cannot go on after a failure. What was handed out before is not handed out twice.
   */
  private final class Listing implements AutoCloseable {
    /** As many as the pages of ABFS have. */
    private static final int BATCH = 5000;

    private final Path directory;
    private final boolean isLong;
    private final NameIndex handedOut = new NameIndex();
    private RemoteIterator<FileStatus> entries;
    private boolean complete;

    Listing(Path directory, boolean isLong) {
      this.directory = directory;
      this.isLong = isLong;
    }

    /** The next entries; none when the listing has come to its end. */
    List<FileStatus> next() throws IOException {
      return complete ? List.of() : askLong(RequestKind.LIST, directory, this::read);
    }

    /** Ends the listing, also before it has come to its end. */
    @Override
    public void close() {
      if (entries != null) {
        RemoteIterators.cleanupRemoteIterator(entries);
      }
    }

    private List<FileStatus> read() throws IOException {
      RemoteIterator<FileStatus> reading =
          entries != null
              ? entries
              : isLong ? requestLongListing(directory) : requestListing(directory);
      entries = null;
      List<FileStatus> batch = new ArrayList<>();
      while (batch.size() < BATCH && reading.hasNext()) {
        FileStatus entry = reading.next();
        if (handedOut.count() == 0 || handedOut.find(0, entry.getPath().getName()) < 0) {
          batch.add(entry);
        }
      }
      complete = !reading.hasNext();
      if (!complete) {
        entries = reading;
        batch.forEach(entry -> handedOut.add(0, entry.getPath().getName()));
      }
      return batch;
    }
  }
}
