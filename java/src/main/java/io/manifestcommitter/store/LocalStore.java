// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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
 * <p>No job makes a symbolic link in a staging directory: whoever did wants another place to be
 * read, written or deleted. So what is in one, or behind one, is refused. This looks first and acts
 * then, and who may write to a table can be quicker. Elsewhere a link is the user's own, and shown
 * as what it leads to, or as a link if it leads to nothing. Hadoop's local filesystem deletes a
 * link as such, also in a tree.
 */
public final class LocalStore extends HadoopStore {
  private static final int STICKY = 01000;
  private static final String USER = System.getProperty("user.name");
  private static final String SUPERUSER = "root";

  /** Requests about an entry, which may be a link itself; the others are about what is in it. */
  private static final Set<RequestKind> OF_ENTRIES =
      EnumSet.of(RequestKind.LOOK, RequestKind.RENAME, RequestKind.DELETE);

  /** A store on the local filesystem {@code fs}. */
  public LocalStore(FileSystem fs, RequestGate gate) {
    super(fs, StoreTraits.LOCAL, gate);
  }

  /** Nothing is asked for behind a link in a staging directory. */
  @Override
  protected void requireMayAsk(RequestKind kind, Path path) throws IOException {
    refuseLinks(OF_ENTRIES.contains(kind) ? path.getParent() : path);
    if (kind == RequestKind.WRITE) {
      // Hadoop's local filesystem writes a checksum beside the file.
      refuseLinks(checksum(path));
    }
  }

  /** Lists at once: the iterator of some Hadoop versions shows checksum files too. */
  @Override
  protected RemoteIterator<FileStatus> requestListing(Path directory) throws IOException {
    List<FileStatus> entries = new ArrayList<>();
    try {
      entries.addAll(List.of(fs().listStatus(directory)));
    } catch (IOException e) {
      // Of what goes while it is listed, Hadoop says that nobody may list it.
      throw Files.notExists(local(directory)) ? notFound(directory, e) : e;
    }
    try (DirectoryStream<java.nio.file.Path> links =
        Files.newDirectoryStream(local(directory), Files::isSymbolicLink)) {
      for (java.nio.file.Path each : links) {
        Path link = StorePaths.resolve(directory, each.getFileName().toString());
        if (stagedFrom(directory) >= 0) {
          refuseLinks(link);
        }
        // Hadoop's listing leaves out what leads to nothing.
        if (!Files.exists(each) && !ChecksumFileSystem.isChecksumFile(link)) {
          entries.add(new FileStatus(0, false, 0, 0, 0, 0, null, null, null, link, link));
        }
      }
    } catch (NotDirectoryException | NoSuchFileException e) {
      // The listing of a file, or of what somebody has just removed.
    }
    return RemoteIterators.remoteIteratorFromArray(entries.toArray(new FileStatus[0]));
  }

  @Override
  protected StoreEntry entry(Path path, FileStatus status) {
    boolean isLink = isLink(path);
    return status.isSymlink() || (isLink && stagedFrom(path) >= 0)
        ? StoreEntry.link(path)
        : super.entry(path, status).behindLink(isLink);
  }

  @Override
  public Optional<StoreEntry> status(Path path) throws IOException {
    refuseLinks(path.getParent());
    boolean isLink = isLink(path);
    Optional<StoreEntry> followed =
        isLink && stagedFrom(path) >= 0 ? Optional.empty() : super.status(path);
    return isLink && !followed.isPresent() ? Optional.of(StoreEntry.link(path)) : followed;
  }

  /** Once more where Hadoop's local filesystem only says no: the system says why. */
  @Override
  protected boolean requestMkdirs(Path directory) throws IOException {
    if (super.requestMkdirs(directory)) {
      return true;
    }
    try {
      Files.createDirectories(local(directory));
      return true;
    } catch (AccessDeniedException e) {
      throw denied(directory, e);
    }
  }

  @Override
  public long modified(Path file) throws IOException {
    refuseLinks(file);
    return super.modified(file);
  }

  /**
   * By what the system says, of which no other process is asked; in a directory with the sticky bit
   * by the entries' owners, too.
   */
  @Override
  public Optional<String> deletionDenied(
      Path directory, Optional<StoreEntry> seen, Iterable<Path> entries) throws IOException {
    return deletionDenied(directory, entries, USER);
  }

  static Optional<String> deletionDenied(Path directory, Iterable<Path> entries, String user)
      throws IOException {
    java.nio.file.Path path = local(directory);
    try {
      if (!Files.isDirectory(path)) {
        return Optional.empty();
      }
      if (!mayChange(path)) {
        return Optional.of(described(path, user) + " may not delete what is in it");
      }
      boolean isSticky = ((int) Files.getAttribute(path, "unix:mode") & STICKY) != 0;
      List<String> mayDeleteAll = List.of(SUPERUSER, Files.getOwner(path).getName());
      if (isSticky && !mayDeleteAll.contains(user)) {
        for (Path entry : entries) {
          Optional<String> owner = owner(local(entry));
          if (owner.isPresent() && !user.equals(owner.get())) {
            return Optional.of(
                described(path, user)
                    + " may only delete their own files in it; "
                    + entry.getName()
                    + " belongs to "
                    + owner.get());
          }
        }
      }
    } catch (NoSuchFileException | UnsupportedOperationException e) {
      // Gone, so nothing is left to delete; or a disk that knows no such rights.
    }
    return Optional.empty();
  }

  /** Empty if nothing is there any more. */
  private static Optional<String> owner(java.nio.file.Path entry) throws IOException {
    try {
      return Optional.of(Files.getOwner(entry, LinkOption.NOFOLLOW_LINKS).getName());
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private static boolean mayChange(java.nio.file.Path directory) {
    return Files.isWritable(directory) && Files.isExecutable(directory);
  }

  private static String described(java.nio.file.Path path, String user) throws IOException {
    PosixFileAttributes attributes = Files.readAttributes(path, PosixFileAttributes.class);
    String permissions = PosixFilePermissions.toString(attributes.permissions());
    return String.format(
        "%s belongs to %s:%s with %s, and %s",
        path, attributes.owner().getName(), attributes.group().getName(), permissions, user);
  }

  /** Names, for an entry that could not be made, the right that is missing, if one is. */
  private static IOException denied(Path entry, IOException failure) throws IOException {
    java.nio.file.Path there = local(entry).getParent();
    while (there != null && !Files.exists(there)) {
      there = there.getParent();
    }
    return there == null || mayChange(there)
        ? failure
        : new IOException(
            entry
                + " cannot be made: "
                + described(there, USER)
                + " may not write there. Have its owner permit it, or choose another path",
            failure);
  }

  @Override
  public void deleteFile(Path file) throws IOException {
    refuseLinks(file.getParent());
    if (isLink(file)) {
      Files.deleteIfExists(local(file));
      java.nio.file.Path checksum = local(checksum(file));
      // A name too long for one has none.
      if (Files.exists(checksum, LinkOption.NOFOLLOW_LINKS)) {
        Files.deleteIfExists(checksum);
      }
    } else {
      super.deleteFile(file);
    }
  }

  /** With the volume, of what a symbolic link leads to. */
  @Override
  protected Rights rights(FileStatus directory) {
    try {
      Object volume = Files.getAttribute(local(directory.getPath()), "unix:dev");
      return new Rights(directory, volume.toString());
    } catch (IOException | UnsupportedOperationException e) {
      // It is not known then, and a rename to another one is refused when it is tried.
      return new Rights(directory, "");
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
      refuseLinks(source.getParent());
      if (isLink(source) && stagedFrom(destination) >= 0) {
        // Where it would be refused when it has to return.
        throw new IOException(
            local(source)
                + " is a symbolic link, which a job does not move: remove it, or put its target in"
                + " its place");
      }
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
    refuseLinks(directory);
    if (isLink(directory)) {
      return false;
    }
    if (fs() instanceof LocalFileSystem
        && status(directory).filter(StoreEntry::isDirectory).isPresent()
        && fs().listStatus(directory).length == 0) {
      FileSystem raw = ((LocalFileSystem) fs()).getRawFileSystem();
      for (FileStatus status : raw.listStatus(directory)) {
        if (ChecksumFileSystem.isChecksumFile(status.getPath())) {
          raw.delete(status.getPath(), false);
        }
      }
    }
    return super.deleteEmptyDirectory(directory);
  }

  @Override
  protected boolean requestRename(FileEntry file) throws IOException {
    try {
      if (!renamesByItself()) {
        requireParent(file.destination());
        return super.requestRename(file);
      }
      move(file.source(), file.destination());
      Path checksum = checksum(file.source());
      if (Files.exists(local(checksum))) {
        move(checksum, checksum(file.destination()));
      }
      return true;
    } catch (IOException e) {
      throw denied(file.destination(), e);
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
    if (!Files.isDirectory(local(path.getParent()))) {
      throw new FileNotFoundException(path.getParent() + " is gone");
    }
  }

  private static void move(Path source, Path destination) throws IOException {
    try {
      Files.move(local(source), local(destination), StandardCopyOption.ATOMIC_MOVE);
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

  /**
   * Requires that no link stands at a path, or above it, from a staging directory on.
   *
   * @throws IOException if one does; it names it
   */
  private static void refuseLinks(Path path) throws IOException {
    if (path == null) {
      return;
    }
    int from = stagedFrom(path);
    for (Path each = path; from >= 0 && each.depth() > from; each = each.getParent()) {
      if (isLink(each)) {
        throw new IOException(
            local(each)
                + " is a symbolic link in a staging directory, where no job makes one, and is not"
                + " followed. Nothing was changed behind it: look who made it, remove the link, and"
                + " try again");
      }
    }
  }

  private static boolean isLink(Path path) {
    try {
      return Files.isSymbolicLink(local(path));
    } catch (InvalidPathException e) {
      // No name that this JVM can write, so none that it could follow.
      return false;
    }
  }

  /** How many components are above what is staged; -1 if a path lies in no staging directory. */
  private static int stagedFrom(Path path) {
    String[] names = path.toUri().getPath().substring(1).split("/", -1);
    for (int i = 0; i < names.length; i++) {
      if (names[i].equals(JobPaths.TEMPORARY)) {
        return i + 1 < names.length ? i + 1 : -1;
      }
      if (StagingRoot.isStaging(names[i])) {
        return i;
      }
    }
    return -1;
  }

  private static FileNotFoundException notFound(Path path, IOException cause) {
    FileNotFoundException notFound = new FileNotFoundException(path + " is not there any more");
    notFound.initCause(cause);
    return notFound;
  }

  private static java.nio.file.Path local(Path path) {
    return Paths.get(path.toUri().getPath());
  }

  private static Path checksum(Path file) {
    return StorePaths.resolve(file.getParent(), "." + file.getName() + ".crc");
  }
}
