// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collection;
import java.util.Optional;

/**
 * Whether a user may delete entries on a local disk. Asks the system, and starts no process for it.
 */
final class LocalRights {
  private static final int STICKY = 01000;
  private static final String SUPERUSER = "root";

  private LocalRights() {}

  /**
   * As {@link Store#deletionDenied}.
   *
   * @param user this process's
   */
  static Optional<String> deletionDenied(
      org.apache.hadoop.fs.Path directory,
      Collection<org.apache.hadoop.fs.Path> entries,
      String user)
      throws IOException {
    Path path = path(directory);
    try {
      if (!Files.isDirectory(path)) {
        return Optional.empty();
      }
      if (!mayChange(path)) {
        return Optional.of(described(path, user) + " may not delete what is in it");
      }
      boolean isSticky = ((int) Files.getAttribute(path, "unix:mode") & STICKY) != 0;
      if (!isSticky || user.equals(SUPERUSER) || user.equals(Files.getOwner(path).getName())) {
        return Optional.empty();
      }
      for (org.apache.hadoop.fs.Path entry : entries) {
        Optional<String> owner = owner(path(entry));
        if (owner.isPresent() && !user.equals(owner.get())) {
          return Optional.of(
              described(path, user)
                  + " may only delete their own files in it; "
                  + entry.getName()
                  + " belongs to "
                  + owner.get());
        }
      }
      return Optional.empty();
    } catch (NoSuchFileException | UnsupportedOperationException e) {
      // Gone, so nothing is left to delete; or a disk that knows no such rights.
      return Optional.empty();
    }
  }

  /**
   * Names, for an entry that could not be made, the right that is missing; the failure itself where
   * none is.
   *
   * @param user this process's
   */
  static IOException denied(org.apache.hadoop.fs.Path entry, String user, IOException failure)
      throws IOException {
    Path there = path(entry).getParent();
    while (there != null && !Files.exists(there)) {
      there = there.getParent();
    }
    return there == null || mayChange(there)
        ? failure
        : new IOException(
            entry
                + " cannot be made: "
                + described(there, user)
                + " may not write there. Have its owner permit it, or choose another path",
            failure);
  }

  private static boolean mayChange(Path directory) {
    return Files.isWritable(directory) && Files.isExecutable(directory);
  }

  /** Empty if nothing is there any more. */
  private static Optional<String> owner(Path entry) throws IOException {
    try {
      return Optional.of(Files.getOwner(entry, LinkOption.NOFOLLOW_LINKS).getName());
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private static String described(Path path, String user) throws IOException {
    PosixFileAttributes attributes = Files.readAttributes(path, PosixFileAttributes.class);
    return path
        + " belongs to "
        + attributes.owner().getName()
        + ":"
        + attributes.group().getName()
        + " with "
        + PosixFilePermissions.toString(attributes.permissions())
        + ", and "
        + user;
  }

  private static Path path(org.apache.hadoop.fs.Path path) {
    return Paths.get(path.toUri().getPath());
  }
}
