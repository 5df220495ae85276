// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.ChecksumFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * The local filesystem.
 *
 * <p>Relies on {@code rename(2)}, so nothing goes to another volume, which may be there behind a
 * symbolic link or a mount. Hadoop's local filesystem would silently replace a file at the
 * destination of a rename, and moves a file into a directory of that name. So both are looked for
 * first. This is check-then-act, and enough where one machine writes files of unique names.
 * Checksum files ({@code .crc}) travel with their file and are not shown.
 *
 * <p>In staging directories no symbolic link is followed, see {@link LocalLinks}: it is shown as a
 * link, and deleted, or moved, as such. Elsewhere a link is shown as what it leads to, or as a link
 * if it leads to nothing; it, too, is deleted as a link.
 */
public final class LocalStore extends HadoopStore {
  /** A store on the local filesystem {@code fs}. */
  public LocalStore(FileSystem fs, RequestGate gate) {
    super(fs, StoreTraits.LOCAL, gate);
  }

  @Override
  protected HadoopStore through(RequestGate gate) {
    return new LocalStore(fs(), gate);
  }

  /** Lists at once: the iterator of some Hadoop versions shows checksum files too. */
  @Override
  protected RemoteIterator<FileStatus> requestListing(Path directory) throws IOException {
    LocalLinks.refuse(directory);
    List<FileStatus> entries = new ArrayList<>(List.of(fs().listStatus(directory)));
    for (Path link : LocalLinks.notFollowedIn(directory)) {
      entries.removeIf(entry -> entry.getPath().getName().equals(link.getName()));
      entries.add(new FileStatus(0, false, 0, 0, 0, 0, null, null, null, link, link));
    }
    return RemoteIterators.remoteIteratorFromArray(entries.toArray(new FileStatus[0]));
  }

  @Override
  protected StoreEntry entry(Path path, FileStatus status) {
    return status.isSymlink()
        ? StoreEntry.link(path)
        : super.entry(path, status).behindLink(LocalLinks.isLink(path));
  }

  @Override
  public Optional<StoreEntry> status(Path path) throws IOException {
    LocalLinks.refuseAbove(path);
    boolean isLink = LocalLinks.isLink(path);
    Optional<StoreEntry> followed =
        isLink && LocalLinks.isStaged(path) ? Optional.empty() : super.status(path);
    return isLink && !followed.isPresent() ? Optional.of(StoreEntry.link(path)) : followed;
  }

  @Override
  public void mkdirs(Path directory) throws IOException {
    LocalLinks.refuse(directory);
    super.mkdirs(directory);
  }

  /** Once more where Hadoop's local filesystem only says no: the system says why. */
  @Override
  protected boolean requestMkdirs(Path directory) throws IOException {
    if (super.requestMkdirs(directory)) {
      return true;
    }
    try {
      Files.createDirectories(Paths.get(directory.toUri().getPath()));
      return true;
    } catch (AccessDeniedException e) {
      throw LocalRights.denied(directory, user(), e);
    }
  }

  private static String user() {
    return System.getProperty("user.name");
  }

  @Override
  public byte[] readStart(Path file, int length) throws IOException {
    LocalLinks.refuse(file);
    return super.readStart(file, length);
  }

  @Override
  public long modified(Path file) throws IOException {
    LocalLinks.refuse(file);
    return super.modified(file);
  }

  @Override
  public void write(Path file, Content content) throws IOException {
    LocalLinks.refuse(file);
    // Hadoop's local filesystem writes a checksum beside the file.
    LocalLinks.refuse(checksum(file));
    super.write(file, content);
  }

  /** By what the system says; in a directory with the sticky bit, by the entries' owners, too. */
  @Override
  public Optional<String> deletionDenied(
      Path directory, Optional<StoreEntry> seen, Collection<Path> entries) throws IOException {
    return LocalRights.deletionDenied(directory, entries, user());
  }

  @Override
  public void deleteFile(Path file) throws IOException {
    LocalLinks.refuseAbove(file);
    if (LocalLinks.isLink(file)) {
      Files.deleteIfExists(Paths.get(file.toUri().getPath()));
      java.nio.file.Path checksum = Paths.get(checksum(file).toUri().getPath());
      // A name too long for one has none.
      if (Files.exists(checksum, LinkOption.NOFOLLOW_LINKS)) {
        Files.deleteIfExists(checksum);
      }
    } else {
      super.deleteFile(file);
    }
  }

  /** A link in it goes as a link. */
  @Override
  public void deleteTree(Path directory) throws IOException {
    if (LocalLinks.isStaged(directory) && LocalLinks.isLink(directory)) {
      deleteFile(directory);
    } else {
      LocalLinks.refuseAbove(directory);
      super.deleteTree(directory);
    }
  }

  /** With the volume, of what a symbolic link leads to. */
  @Override
  protected Rights rights(FileStatus directory) {
    java.nio.file.Path path = Paths.get(directory.getPath().toUri().getPath());
    try {
      return Rights.of(directory, String.valueOf(Files.getAttribute(path, "unix:dev")));
    } catch (IOException | UnsupportedOperationException e) {
      // It is not known then, and a rename to another one is refused when it is tried.
      return Rights.of(directory);
    }
  }

  /** Looks at the destination first: Hadoop's local filesystem copies where it cannot rename. */
  @Override
  public RenameResult renameDirectory(Path source, Path destination) {
    return refusal(source, destination).orElseGet(() -> super.renameDirectory(source, destination));
  }

  @Override
  public RenameResult renameFile(FileEntry file) {
    return refusal(file.source(), file.destination()).orElseGet(() -> super.renameFile(file));
  }

  /** Why a rename is not tried; empty if it may be. */
  private Optional<RenameResult> refusal(Path source, Path destination) {
    try {
      LocalLinks.refuseAbove(source);
      Optional<StoreEntry> existing = status(destination);
      return existing.isPresent() && status(source).isPresent()
          ? Optional.of(
              RenameResult.failed(
                      "rename of "
                          + source
                          + " was not tried: at its destination there is "
                          + existing.get(),
                      null)
                  .inTheWay(existing.get()))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.of(
          RenameResult.failed("rename of " + source + " to " + destination + " was not tried", e));
    }
  }

  /** A directory in which only checksums of deleted files are left counts as empty. */
  @Override
  public boolean deleteEmptyDirectory(Path directory) throws IOException {
    LocalLinks.refuse(directory);
    if (LocalLinks.isLink(directory)) {
      return false;
    }
    if (fs() instanceof LocalFileSystem && isEmptyDirectory(directory)) {
      FileSystem raw = ((LocalFileSystem) fs()).getRawFileSystem();
      for (FileStatus status : raw.listStatus(directory)) {
        if (ChecksumFileSystem.isChecksumFile(status.getPath())) {
          raw.delete(status.getPath(), false);
        }
      }
    }
    return super.deleteEmptyDirectory(directory);
  }

  private boolean isEmptyDirectory(Path directory) throws IOException {
    return status(directory).filter(StoreEntry::isDirectory).isPresent()
        && fs().listStatus(directory).length == 0;
  }

  @Override
  protected boolean requestRename(FileEntry file) throws IOException {
    try {
      if (!renamesByItself()) {
        requireParent(file.destination());
        return super.requestRename(file);
      }
      move(file.source(), file.destination());
      moveChecksum(file.source(), file.destination());
      return true;
    } catch (IOException e) {
      throw LocalRights.denied(file.destination(), user(), e);
    }
  }

  /**
   * Not as Hadoop's local filesystem, which copies a directory, and makes its parent, where it
   * cannot rename. A parent that is gone was taken away from a process that still renames something
   * into it.
   */
  @Override
  protected boolean requestDirectoryRename(Path source, Path destination) throws IOException {
    if (!renamesByItself()) {
      requireParent(destination);
      return super.requestDirectoryRename(source, destination);
    }
    move(source, destination);
    return true;
  }

  /** A filesystem that wraps Hadoop's is asked for its renames. */
  private boolean renamesByItself() {
    Class<?> type = fs().getClass();
    return type == LocalFileSystem.class || type == RawLocalFileSystem.class;
  }

  private static void requireParent(Path path) throws IOException {
    if (!Files.isDirectory(Paths.get(path.getParent().toUri().getPath()))) {
      throw new FileNotFoundException(path.getParent() + " is gone");
    }
  }

  private static void moveChecksum(Path source, Path destination) throws IOException {
    Path checksum = checksum(source);
    if (Files.exists(Paths.get(checksum.toUri().getPath()))) {
      move(checksum, checksum(destination));
    }
  }

  private static void move(Path source, Path destination) throws IOException {
    try {
      Files.move(
          Paths.get(source.toUri().getPath()),
          Paths.get(destination.toUri().getPath()),
          StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      throw new IOException(
          destination
              + " is on another volume than "
              + source
              + ", and a rename between them would be a copy. Register the directory on that volume"
              + " as the partition's location, or write a table of its own there",
          e);
    }
  }

  private static Path checksum(Path file) {
    return StorePaths.resolve(file.getParent(), "." + file.getName() + ".crc");
  }
}
