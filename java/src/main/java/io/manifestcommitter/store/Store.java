// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;

/**
 * The filesystem as the committer needs it. Nothing else in the committer touches one. Each request
 * goes to the store of its path, which is opened when it is first asked for.
 *
 * <p>Every path is qualified (scheme and authority). Every method may be called from many threads
 * at once. A method that fails throws an {@link IOException} that names the path.
 */
public final class Store {
  private final Configuration conf;
  private final RequestGate gate;
  private final Map<String, HadoopStore> open;

  /** The roots of stores by the names by which they were first asked for; by all known names. */
  private final Map<String, Path> firstNames;

  private final InvocationRaisingIOE mayChange;

  /** Stores that are opened with {@code conf} and make their requests through one gate. */
  Store(Configuration conf, RequestGate gate) {
    this(conf, gate, new ConcurrentHashMap<>(), new ConcurrentHashMap<>(), () -> {});
  }

  private Store(
      Configuration conf,
      RequestGate gate,
      Map<String, HadoopStore> open,
      Map<String, Path> firstNames,
      InvocationRaisingIOE mayChange) {
    this.conf = Objects.requireNonNull(conf);
    this.gate = Objects.requireNonNull(gate);
    this.open = open;
    this.firstNames = firstNames;
    this.mayChange = mayChange;
  }

  /** What the store at {@code path} guarantees. Makes no request. */
  public StoreTraits traits(Path path) {
    return unchecked(path).traits(path);
  }

  /**
   * The path under the name by which its store was first asked for here. Two names of one store
   * ({@code abfs} and {@code abfss}, a NameNode by name and by address) are then one place, and
   * paths that this method gave can be compared. The path is returned as it is if no store that is
   * open here has it. Opens nothing and makes no request to a store, but may look up the address of
   * a host.
   */
  public Path named(Path path) {
    Path root = firstNames.get(key(path));
    return StorePaths.under(root != null ? root : firstName(path), path);
  }

  private Path firstName(Path path) {
    for (Map.Entry<String, HadoopStore> store : open.entrySet()) {
      if (store.getValue().isAlsoCalled(path.toUri())) {
        Path root = firstNames.get(store.getKey());
        firstNames.put(key(path), root);
        return root;
      }
    }
    return path;
  }

  /** The store of one path. Not asked whether it is served: reports may be saved anywhere. */
  HadoopStore of(Path path) throws IOException {
    HadoopStore known = open.get(key(path));
    return known != null ? known : open(path);
  }

  private HadoopStore open(Path path) throws IOException {
    synchronized (open) {
      FileSystem fs = path.getFileSystem(conf);
      firstNames.putIfAbsent(key(path), firstName(path));
      return open.computeIfAbsent(key(path), key -> (HadoopStore) opened(path, fs));
    }
  }

  /** As an object, so that only the class of the store that is used is loaded. */
  private Object opened(Path path, FileSystem fs) {
    switch (StoreFamily.of(path, conf)) {
      case LOCAL:
        return new LocalStore(fs, gate);
      case HDFS:
        return new HdfsStore(fs, gate);
      case ABFS:
        return new AbfsStore(fs, gate);
      case GCS:
        return new GcsStore(fs, conf, gate);
      case S3:
        return new S3Store(fs, gate);
      default:
        boolean isVouchedFor = StoreFamily.isVouchedFor(fs.getUri().getScheme(), conf);
        return new HadoopStore(fs, isVouchedFor ? StoreTraits.VOUCHED : StoreTraits.UNKNOWN, gate);
    }
  }

  /** As {@link #of}, for a request that changes something there. */
  private HadoopStore toChange(Path path) throws IOException {
    mayChange.apply();
    return of(path);
  }

  private HadoopStore unchecked(Path path) {
    try {
      return of(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private RenameResult at(Path path, Function<HadoopStore, RenameResult> rename) {
    try {
      return rename.apply(toChange(path));
    } catch (IOException e) {
      return RenameResult.failed(path + " was not renamed: " + e.getMessage(), e);
    }
  }

  private static String key(Path path) {
    return path.toUri().getScheme() + "://" + path.toUri().getAuthority();
  }

  /**
   * The entry at {@code path} with all that identifies it, empty if there is none. One request, and
   * one more for a file where {@link StoreTraits#identityCostsRequest}.
   */
  public Optional<StoreEntry> status(Path path) throws IOException {
    return of(path).status(path);
  }

  /**
   * Shows the direct children of a directory to {@code visitor}, in no particular order. One
   * request a page. For a file it shows the file itself. What identifies a file may be missing, see
   * {@link #identified}.
   *
   * @throws FileNotFoundException if there is nothing at {@code directory}
   */
  public void list(Path directory, ConsumerRaisingIOE<StoreEntry> visitor) throws IOException {
    of(directory).list(directory, 0, visitor);
  }

  /** As {@link #listIfThere(Path, int, ConsumerRaisingIOE)}, of a directory of unknown size. */
  public boolean listIfThere(Path directory, ConsumerRaisingIOE<StoreEntry> visitor)
      throws IOException {
    return listIfThere(directory, 0, visitor);
  }

  /**
   * As {@link #list}, of a directory that has some {@code expected} entries. Where they are so many
   * that a driver should not hold them all at once, page by page, though that may cost a request
   * more. Where there is no directory, there are no entries.
   *
   * @return whether it was there to the end
   */
  public boolean listIfThere(Path directory, int expected, ConsumerRaisingIOE<StoreEntry> visitor)
      throws IOException {
    try {
      of(directory).list(directory, expected, visitor);
      return true;
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  /**
   * An entry of a listing with all that identifies it. No request, but one for a file where {@link
   * StoreTraits#identityCostsRequest}.
   *
   * @throws FileNotFoundException if the file is gone
   */
  public StoreEntry identified(StoreEntry listed) throws IOException {
    return of(listed.path()).identified(listed);
  }

  /**
   * Makes a directory and its missing parents with the store's default rights. One that exists is
   * left as it is. One request.
   *
   * @throws IOException also if a file stands at the path or at one of its parents
   */
  public void mkdirs(Path directory) throws IOException {
    toChange(directory).mkdirs(directory);
  }

  /**
   * Renames one file and says what is proven about it. One request when the store says yes; up to
   * two more to prove the outcome when it does not. Never replaces a file: where one stands at the
   * destination the outcome is {@link RenameResult.Outcome#FAILED}. The parent of the destination
   * must exist. Throws nothing for an outcome: a caller must look at it.
   */
  public RenameResult renameFile(FileEntry file) {
    return at(file.source(), store -> store.renameFile(file));
  }

  /**
   * Completes an upload, and says what is proven about it, as {@link #renameFile} does. It needs no
   * parent. What stands at its destination would be replaced: such files have names that no other
   * job gives.
   */
  public RenameResult completeUpload(FileEntry upload) {
    return at(upload.destination(), store -> store.completeUpload(upload));
  }

  /** Makes a staged file visible, by its form: completes it if it is an upload, or renames it. */
  public RenameResult publish(FileEntry staged) {
    return staged.isUpload() ? completeUpload(staged) : renameFile(staged);
  }

  /**
   * The upload of a local file, which {@link #completeUpload} completes and nobody sees before. Two
   * requests, and one for each further part; none until it is told to begin. Only where the traits
   * say that uploads are completed.
   */
  public FileUpload newUpload(File local, Path destination) throws IOException {
    return toChange(destination).newUpload(local, destination);
  }

  /**
   * Gives up an upload that was not completed: it never can be after that. One that is already
   * gone, or completed, is fine. One request, and none for a file that is no upload.
   */
  public void abortUpload(FileEntry file) throws IOException {
    toChange(file.destination()).abortUpload(file);
  }

  /**
   * The ids of the uploads below a directory that were neither completed nor aborted. Some
   * requests; none where nothing is uploaded, or the connector does not tell.
   *
   * @return empty if that is not known
   */
  public Optional<Set<String>> waitingUploads(Path directory) throws IOException {
    return of(directory).waitingUploads(directory);
  }

  /**
   * Renames a directory with all that is in it. Only where the traits promise that this is atomic.
   * The caller knows that nothing stands at {@code destination}: most stores would nest the source
   * inside.
   */
  public RenameResult renameDirectory(Path source, Path destination) {
    return at(source, store -> store.renameDirectory(source, destination));
  }

  /**
   * Why this user may not delete what is in a directory, where the store can tell before it is
   * tried; empty if nothing speaks against it. No request where the store cannot tell, or where the
   * directory was seen and its permission clearly allows it; else up to four.
   *
   * @param seen the directory as the store showed it, if it did
   * @param entries what is to be deleted, directly in the directory
   * @return a clause that names the directory, its owner and its permission
   */
  public Optional<String> deletionDenied(
      Path directory, Optional<StoreEntry> seen, Iterable<Path> entries) throws IOException {
    return of(directory).deletionDenied(directory, seen, entries);
  }

  /**
   * Waits until no rename of a directory in {@code directory}, or of itself, is under way in the
   * store. No request where a rename is done when it is answered.
   *
   * @param ofAnybody also the renames of other processes, which may have died; else those that were
   *     asked for here, and no request where the outcome of each is known
   * @throws IOException also if one takes too long, or the user may not ask for them
   */
  public void awaitRenames(Path directory, boolean ofAnybody) throws IOException {
    of(directory).awaitRenames(directory, ofAnybody);
  }

  /** Deletes one file, or link. One that is already gone is fine. One request. */
  public void deleteFile(Path file) throws IOException {
    toChange(file).deleteFile(file);
  }

  /**
   * Deletes a directory if nothing is in it. The caller knows that it is a directory, or a link: a
   * file would be deleted.
   *
   * @return whether there is now nothing at the path; false if the directory is not empty, or a
   *     symbolic link
   */
  public boolean deleteEmptyDirectory(Path directory) throws IOException {
    return toChange(directory).deleteEmptyDirectory(directory);
  }

  /** Deletes a directory and all below it. One that is already gone is fine. */
  public void deleteTree(Path directory) throws IOException {
    toChange(directory).deleteTree(directory);
  }

  /**
   * The content of a small file. One request.
   *
   * @param limit in bytes
   * @throws FileNotFoundException if there is none
   * @throws FileTooLongException if it is longer
   */
  public byte[] read(Path file, int limit) throws IOException {
    byte[] content = readStart(file, Math.addExact(limit, 1));
    if (content.length > limit) {
      throw new FileTooLongException(file, limit);
    }
    return content;
  }

  /**
   * The beginning of a file. One request.
   *
   * @param length in bytes; a shorter file is given whole
   */
  public byte[] readStart(Path file, int length) throws IOException {
    return of(file).readStart(file, length);
  }

  /**
   * When a file was last written, by the store's own clock, in milliseconds since 1970. One
   * request.
   *
   * @throws FileNotFoundException if there is none
   */
  public long modified(Path file) throws IOException {
    return of(file).modified(file);
  }

  /**
   * Creates a file, replacing one that is there; parents are made. Not atomic: write to a temporary
   * name and rename. One request, and none where {@link #create} made the file.
   */
  public void write(Path file, ConsumerRaisingIOE<OutputStream> content) throws IOException {
    toChange(file).write(file, content);
  }

  /**
   * Creates a file where nothing is, or in the place of a file that was seen there, by one request
   * that the store refuses if that has changed. Only where the traits say that it compares. A
   * failure leaves open whether the file is there: an answer may be lost.
   *
   * @param seen what it replaces; empty if there was nothing
   */
  public void replace(Path file, Optional<StoreEntry> seen, byte[] content) throws IOException {
    toChange(file).replace(file, seen, content);
  }

  /**
   * Makes a file, and its parents, that {@link #write} or {@link #fill} gives its content later:
   * then nobody waits for the request that makes it. One request; nothing, and none, where the
   * traits do not say that a file is there before its content.
   */
  public void create(Path file) throws IOException {
    toChange(file).create(file);
  }

  /**
   * Gives its content to a file that {@link #create} made. That shows that it was still there: a
   * file that another process has deleted since, or a directory above it, is not made again.
   *
   * @return false if the file was not made here, or its driver failed; then only {@link #write}
   *     tells what is there
   * @throws FileNotFoundException if somebody deleted it
   */
  public boolean fill(Path file, ConsumerRaisingIOE<OutputStream> content) throws IOException {
    return toChange(file).fill(file, content);
  }

  /** Gives up a file that {@link #create} made, if it was not filled: it stays, empty. */
  public void release(Path file) {
    unchecked(file).release(file);
  }

  /**
   * The same store, for few requests that must not wait in line behind a job's others, such as a
   * sign of life: past the job's limits on requests. One that the store refuses is retried for some
   * seconds.
   */
  public Store pastLimits() {
    return new Store(conf, RequestGate.urgent()).guardedBy(mayChange);
  }

  /**
   * The same store, which asks before it changes anything; reading needs no leave.
   *
   * @param guard throws if nothing may be changed now
   */
  public Store guardedBy(InvocationRaisingIOE guard) {
    return new Store(conf, gate, open, firstNames, guard);
  }

  /** Why the committer cannot serve tables at a path, and what to do; empty if it can. */
  public Optional<String> shortcoming(Path path) throws IOException {
    return of(path).shortcoming(path);
  }

  /**
   * Writes a file under a name that nobody looks for: it is renamed once it is complete, so that
   * nobody sees a part of it.
   *
   * @return the rename that is left to do
   */
  public static FileEntry writeNew(
      Store store, Path temporary, Path name, ConsumerRaisingIOE<OutputStream> content)
      throws IOException {
    return new FileEntry(temporary, name, writeNew(store, temporary, content), null, 0);
  }

  /**
   * Writes a file of which others may see a part.
   *
   * @return how many bytes it holds
   */
  public static long writeNew(Store store, Path file, ConsumerRaisingIOE<OutputStream> content)
      throws IOException {
    long[] size = {0};
    store.write(
        file,
        out -> {
          // Its count ends at two gigabytes, far beyond what such a file holds.
          DataOutputStream counted = new DataOutputStream(out);
          content.accept(counted);
          counted.flush();
          size[0] = counted.size();
        });
    return size[0];
  }

  /** A file has more bytes than one of its kind can have, so it is none. */
  public static final class FileTooLongException extends IOException {
    private static final long serialVersionUID = 1L;

    FileTooLongException(Path file, int limit) {
      super(file + " has more than the " + limit + " bytes that such a file can have");
    }
  }
}
