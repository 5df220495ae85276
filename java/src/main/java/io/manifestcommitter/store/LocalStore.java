package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.ChecksumFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * The local filesystem.
 *
 * <p>Relies on {@code rename(2)}. Hadoop's local filesystem would silently replace a file at the
 * destination of a rename, and moves a file into a directory of that name, so both are looked for
 * first; this is check-then-act, and enough where one machine writes files of unique names.
 * Checksum files ({@code .crc}) travel with their file and are not shown.
 */
public final class LocalStore extends HadoopStore {
  /** A store on the local filesystem {@code fs}. */
  public LocalStore(FileSystem fs, RequestGate gate) {
    super(fs, StoreTraits.LOCAL, gate);
  }

  /** Lists at once: the iterator of some Hadoop versions shows checksum files too. */
  @Override
  protected RemoteIterator<FileStatus> requestListing(Path directory) throws IOException {
    return RemoteIterators.remoteIteratorFromArray(fs().listStatus(directory));
  }

  /** A directory in which only checksums of deleted files are left counts as empty. */
  @Override
  public boolean deleteEmptyDirectory(Path directory) throws IOException {
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
  public RenameResult renameFile(FileEntry file) {
    try {
      Optional<StoreEntry> existing = status(file.destination());
      if (existing.isPresent() && status(file.source()).isPresent()) {
        return RenameResult.failed(
                "rename of "
                    + file.source()
                    + " was not tried: at its destination there is "
                    + existing.get(),
                null)
            .inTheWay(existing.get());
      }
    } catch (IOException e) {
      return RenameResult.failed(
          "rename of " + file.source() + " to " + file.destination() + " was not tried", e);
    }
    return super.renameFile(file);
  }
}
