// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import org.apache.hadoop.fs.FileSystem;

/**
 * The rename of a local file to another volume: Hadoop would copy it to its new name, where a
 * reader sees it grow. Here it is copied to a hidden name beside that, keeps its modification time,
 * takes its new name in one step, and is then deleted at its old one.
 */
final class VolumeCopy {
  private final FileEntry file;
  private final Path source;
  private final Path destination;

  VolumeCopy(FileEntry file) {
    this.file = file;
    this.source = local(file.source());
    this.destination = local(file.destination());
  }

  /** Whether a rename of the file is one. */
  boolean isNeeded() throws IOException {
    try {
      return !volume(source).equals(volume(destination.getParent()));
    } catch (UnsupportedOperationException e) {
      return !Files.getFileStore(source).equals(Files.getFileStore(destination.getParent()));
    }
  }

  private static Object volume(Path path) throws IOException {
    return Files.getAttribute(path, "unix:dev");
  }

  /**
   * Renames the file, and the checksum that Hadoop keeps beside it.
   *
   * @return whether the source was deleted
   */
  boolean run(FileSystem fs) throws IOException {
    if (Files.exists(checksum(source))) {
      copy(checksum(source), checksum(destination));
    }
    copy(source, hidden());
    Files.move(hidden(), destination, StandardCopyOption.ATOMIC_MOVE);
    return fs.delete(file.source(), false);
  }

  /** Removes what a death in the middle left, but for the destination itself. */
  void removePart() throws IOException {
    Files.deleteIfExists(hidden());
    if (!Files.exists(destination)) {
      Files.deleteIfExists(checksum(destination));
    }
  }

  private Path hidden() {
    return destination.resolveSibling(
        StorePaths.prefixed(".", destination.getFileName() + ".copied"));
  }

  private static Path checksum(Path of) {
    return of.resolveSibling("." + of.getFileName() + ".crc");
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.copy(from, to, StandardCopyOption.COPY_ATTRIBUTES, StandardCopyOption.REPLACE_EXISTING);
  }

  private static Path local(org.apache.hadoop.fs.Path path) {
    return Paths.get(path.toUri().getPath());
  }
}
