// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;

/**
 * The filesystem as the committer needs it. Nothing else in the committer touches one.
 *
 * <p>Every path is qualified (scheme and authority). Every method may be called from many threads
 * at once. A method that fails throws an {@link IOException} that names the path.
 */
public interface Store {
  /** What the store at {@code path} guarantees. Makes no request. */
  StoreTraits traits(Path path);

  /**
   * The path under the name by which its store was first asked for here. Two names of one store
   * ({@code abfs} and {@code abfss}, a NameNode by name and by address) are then one place, and
   * paths that this method gave can be compared. The path is returned as it is if no store that is
   * open here has it. Opens nothing and makes no request to a store, but may look up the address of
   * a host.
   */
  Path named(Path path);

  /**
   * The entry at {@code path} with all that identifies it, empty if there is none. One request, and
   * one more for a file where {@link StoreTraits#identityCostsRequest}.
   */
  Optional<StoreEntry> status(Path path) throws IOException;

  /**
   * Shows the direct children of a directory to {@code visitor}, in no particular order. One
   * request a page. For a file it shows the file itself. What identifies a file may be missing, see
   * {@link #identified}.
   *
   * @throws FileNotFoundException if there is nothing at {@code directory}
   */
  default void list(Path directory, Visitor visitor) throws IOException {
    list(directory, 0, visitor);
  }

  /** As {@link #listIfThere(Path, int, Visitor)}, of a directory of unknown size. */
  default boolean listIfThere(Path directory, Visitor visitor) throws IOException {
    return listIfThere(directory, 0, visitor);
  }

  /**
   * As {@link #list(Path, int, Visitor)}: where there is no directory, there are no entries.
   *
   * @return whether it was there to the end
   */
  default boolean listIfThere(Path directory, int expected, Visitor visitor) throws IOException {
    try {
      list(directory, expected, visitor);
      return true;
    } catch (FileNotFoundException e) {
      return false;
    }
  }

  /**
   * As {@link #list(Path, Visitor)}, of a directory that has some {@code expected} entries. Where
   * they are so many that a driver should not hold them all at once, page by page, though that may
   * cost a request more.
   */
  void list(Path directory, int expected, Visitor visitor) throws IOException;

  /**
   * An entry of a listing with all that identifies it. No request, but one for a file where {@link
   * StoreTraits#identityCostsRequest}.
   *
   * @throws FileNotFoundException if the file is gone
   */
  StoreEntry identified(StoreEntry listed) throws IOException;

  /**
   * Makes a directory and its missing parents with the store's default rights. One that exists is
   * left as it is. One request.
   *
   * @throws IOException also if a file stands at the path or at one of its parents
   */
  void mkdirs(Path directory) throws IOException;

  /**
   * Renames one file and says what is proven about it. One request when the store says yes; up to
   * two more to prove the outcome when it does not. Never replaces a file: where one stands at the
   * destination the outcome is {@link RenameResult.Outcome#FAILED}. The parent of the destination
   * must exist. Throws nothing for an outcome: a caller must look at it.
   */
  RenameResult renameFile(FileEntry file);

  /**
   * Completes an upload, and says what is proven about it, as {@link #renameFile} does. It needs no
   * parent. What stands at its destination would be replaced: such files have names that no other
   * job gives.
   */
  RenameResult completeUpload(FileEntry upload);

  /** Makes a staged file visible, by its form: completes it if it is an upload, or renames it. */
  default RenameResult publish(FileEntry staged) {
    return staged.isUpload() ? completeUpload(staged) : renameFile(staged);
  }

  /**
   * The upload of a local file, which {@link #completeUpload} completes and nobody sees before. Two
   * requests, and one for each further part; none until it is told to begin. Only where the traits
   * say that uploads are completed.
   */
  FileUpload newUpload(File local, Path destination) throws IOException;

  /**
   * Gives up an upload that was not completed: it never can be after that. One that is already
   * gone, or completed, is fine. One request, and none for a file that is no upload.
   */
  void abortUpload(FileEntry file) throws IOException;

  /**
   * The ids of the uploads below a directory that were neither completed nor aborted. Some
   * requests; none where nothing is uploaded, or the connector does not tell.
   *
   * @return empty if that is not known
   */
  default Optional<Set<String>> waitingUploads(Path directory) throws IOException {
    return Optional.empty();
  }

  /**
   * Renames a directory with all that is in it. Only where the traits promise that this is atomic.
   * The caller knows that nothing stands at {@code destination}: most stores would nest the source
   * inside.
   */
  RenameResult renameDirectory(Path source, Path destination);

  /**
   * Why this user may not delete what is in a directory, where the store can tell before it is
   * tried; empty if nothing speaks against it. No request where the store cannot tell, or where the
   * directory was seen and its permission clearly allows it; else up to four.
   *
   * @param seen the directory as the store showed it, if it did
   * @param entries what is to be deleted, directly in the directory
   * @return a clause that names the directory, its owner and its permission
   */
  Optional<String> deletionDenied(Path directory, Optional<StoreEntry> seen, Iterable<Path> entries)
      throws IOException;

  /**
   * Waits until no rename of a directory in {@code directory}, or of itself, is under way in the
   * store. No request where a rename is done when it is answered.
   *
   * @param of whose renames
   * @throws IOException also if one takes too long, or the user may not ask for them
   */
  void awaitRenames(Path directory, RenamesOf of) throws IOException;

  /** Deletes one file, or link. One that is already gone is fine. One request. */
  void deleteFile(Path file) throws IOException;

  /**
   * Deletes a directory if nothing is in it. The caller knows that it is a directory, or a link: a
   * file would be deleted.
   *
   * @return whether there is now nothing at the path; false if the directory is not empty, or a
   *     symbolic link
   */
  boolean deleteEmptyDirectory(Path directory) throws IOException;

  /** Deletes a directory and all below it. One that is already gone is fine. */
  void deleteTree(Path directory) throws IOException;

  /**
   * The content of a small file. One request.
   *
   * @param limit in bytes
   * @throws FileNotFoundException if there is none
   * @throws FileTooLongException if it is longer
   */
  byte[] read(Path file, int limit) throws IOException;

  /**
   * The beginning of a file. One request.
   *
   * @param length in bytes; a shorter file is given whole
   */
  byte[] readStart(Path file, int length) throws IOException;

  /**
   * When a file was last written, by the store's own clock, in milliseconds since 1970. One
   * request.
   *
   * @throws FileNotFoundException if there is none
   */
  long modified(Path file) throws IOException;

  /**
   * Creates a file, replacing one that is there; parents are made. Not atomic: write to a temporary
   * name and rename. One request, and none where {@link #create} made the file.
   */
  void write(Path file, Content content) throws IOException;

  /**
   * Makes a file, and its parents, that {@link #write} or {@link #fill} gives its content later:
   * then nobody waits for the request that makes it. One request; nothing, and none, where the
   * traits do not say that a file is there before its content.
   */
  void create(Path file) throws IOException;

  /**
   * Gives its content to a file that {@link #create} made. That shows that it was still there: a
   * file that another process has deleted since, or a directory above it, is not made again.
   *
   * @return false if the file was not made here, or its driver failed; then only {@link #write}
   *     tells what is there
   * @throws FileNotFoundException if somebody deleted it
   */
  boolean fill(Path file, Content content) throws IOException;

  /** Gives up a file that {@link #create} made, if it was not filled: it stays, empty. */
  void release(Path file);

  /**
   * The same store, for few requests that must not wait in line behind a job's others, such as a
   * sign of life: past the job's limits on requests. One that the store refuses is retried for some
   * seconds.
   */
  Store pastLimits();

  /**
   * The same store, which asks before it changes anything; reading needs no leave.
   *
   * @param mayChange throws if nothing may be changed now
   */
  Store guardedBy(InvocationRaisingIOE mayChange);

  /**
   * Writes a file under a name that nobody looks for: it is renamed once it is complete, so that
   * nobody sees a part of it.
   *
   * @return the rename that is left to do
   */
  static FileEntry writeNew(Store store, Path temporary, Path name, Content content)
      throws IOException {
    return new FileEntry(temporary, name, writeNew(store, temporary, content), null, 0);
  }

  /**
   * Writes a file of which others may see a part.
   *
   * @return how many bytes it holds
   */
  static long writeNew(Store store, Path file, Content content) throws IOException {
    long[] size = {0};
    store.write(
        file,
        out -> {
          // Its count ends at two gigabytes, far beyond what such a file holds.
          DataOutputStream counted = new DataOutputStream(out);
          content.writeTo(counted);
          counted.flush();
          size[0] = counted.size();
        });
    return size[0];
  }

  /** Whose renames are waited for. */
  enum RenamesOf {
    /** Those that were asked for here; no request where the outcome of each is known. */
    THIS_STORE,
    /** Also the renames of other processes, which may have died. */
    ANYBODY
  }

  /** Receives the entries of a listing. */
  @FunctionalInterface
  interface Visitor {
    /** One entry. */
    void visit(StoreEntry entry) throws IOException;
  }

  /** Writes the content of a file. */
  @FunctionalInterface
  interface Content {
    /** Writes everything to {@code out}; the store closes it. */
    void writeTo(OutputStream out) throws IOException;
  }

  /** A file has more bytes than one of its kind can have, so it is none. */
  final class FileTooLongException extends IOException {
    private static final long serialVersionUID = 1L;

    FileTooLongException(Path file, int limit) {
      super(file + " has more than the " + limit + " bytes that such a file can have");
    }
  }
}
