// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.ChecksumFileSystem;

/**
 * Symbolic links of a local disk, themselves. Nothing here follows the last name of a path.
 *
 * <p>No job makes one in a staging directory, so whoever did wants another place to be read,
 * written or deleted: none is followed from the staging directory on. Links elsewhere are the
 * user's own.
 *
 * <p>Looks first and acts then; who may write to a table can be quicker.
 */
final class LocalLinks {
  private LocalLinks() {}

  /** Whether there is a link at a path. */
  static boolean isLink(org.apache.hadoop.fs.Path path) {
    return isLink(text(path));
  }

  private static boolean isLink(String path) {
    try {
      return Files.isSymbolicLink(Paths.get(path));
    } catch (InvalidPathException e) {
      // No name that this JVM can write, so none that it could follow.
      return false;
    }
  }

  /** The links in a directory that a listing shows as links: staged, or leading to nothing. */
  static List<org.apache.hadoop.fs.Path> notFollowedIn(org.apache.hadoop.fs.Path directory)
      throws IOException {
    List<org.apache.hadoop.fs.Path> links = new ArrayList<>();
    try (DirectoryStream<Path> entries =
        Files.newDirectoryStream(Paths.get(text(directory)), Files::isSymbolicLink)) {
      for (Path entry : entries) {
        org.apache.hadoop.fs.Path link =
            StorePaths.resolve(directory, entry.getFileName().toString());
        boolean isHidden = ChecksumFileSystem.isChecksumFile(link);
        if (isStaged(link) || !(isHidden || Files.exists(entry))) {
          links.add(link);
        }
      }
    } catch (NoSuchFileException | NotDirectoryException | InvalidPathException e) {
      links.clear();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return links;
  }

  /**
   * Requires that no staged link has to be followed to what a path names.
   *
   * @throws IOException if there is one; it names it
   */
  static void refuse(org.apache.hadoop.fs.Path path) throws IOException {
    refuse(path, /* last= */ true);
  }

  /** As {@link #refuse(org.apache.hadoop.fs.Path)}; the path itself may be a link. */
  static void refuseAbove(org.apache.hadoop.fs.Path path) throws IOException {
    refuse(path, /* last= */ false);
  }

  private static void refuse(org.apache.hadoop.fs.Path path, boolean last) throws IOException {
    String[] names = text(path).split("/", -1);
    int from = stagedFrom(names);
    if (from < 0) {
      return;
    }
    StringBuilder prefix = new StringBuilder();
    for (int i = 0; i < names.length - (last ? 0 : 1); i++) {
      prefix.append(i == 0 ? "" : "/").append(names[i]);
      if (i >= from && isLink(prefix.toString())) {
        throw new IOException(
            prefix
                + " is a symbolic link in a staging directory, where no job makes one, and is not"
                + " followed. Nothing was changed behind it: look who made it, remove the link, and"
                + " try again");
      }
    }
  }

  /** Whether a path is in a staging directory, or in the place of one. */
  static boolean isStaged(org.apache.hadoop.fs.Path path) {
    String[] names = text(path).split("/", -1);
    int from = stagedFrom(names);
    return from >= 0 && from < names.length;
  }

  /** From which component on a path lies in a staging directory; -1 if it does not. */
  private static int stagedFrom(String[] names) {
    for (int i = 0; i < names.length; i++) {
      if (names[i].equals(JobPaths.TEMPORARY)) {
        return i + 1;
      }
      if (StagingRoot.isStaging(names[i])) {
        return i;
      }
    }
    return -1;
  }

  private static String text(org.apache.hadoop.fs.Path path) {
    return path.toUri().getPath();
  }
}
