// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

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
import java.util.Optional;

/** Symbolic links of a local disk, themselves. Nothing here follows the last name of a path. */
final class LocalLinks {
  private LocalLinks() {}

  /** Whether there is a link at a path. */
  static boolean isLink(org.apache.hadoop.fs.Path path) {
    return isLink(text(path));
  }

  static boolean isLink(String path) {
    try {
      return Files.isSymbolicLink(Paths.get(path));
    } catch (InvalidPathException e) {
      // No name that this JVM can write, so none that it could follow.
      return false;
    }
  }

  /** Where the link at a path leads, as it says itself; empty if there is none. */
  static Optional<String> target(org.apache.hadoop.fs.Path path) {
    try {
      return isLink(path)
          ? Optional.of(Files.readSymbolicLink(Paths.get(text(path))).toString())
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Whether there is a link at a path that leads to a file. */
  static boolean leadsToFile(org.apache.hadoop.fs.Path path) {
    return isLink(path) && Files.isRegularFile(Paths.get(text(path)));
  }

  /** Whether there is a link at a path that leads to nothing. */
  static boolean leadsToNothing(org.apache.hadoop.fs.Path path) {
    return isLink(path) && !Files.exists(Paths.get(text(path)));
  }

  /** The names of the links in a directory. */
  static List<String> in(org.apache.hadoop.fs.Path directory) throws IOException {
    List<String> links = new ArrayList<>();
    try (DirectoryStream<Path> entries =
        Files.newDirectoryStream(Paths.get(text(directory)), Files::isSymbolicLink)) {
      entries.forEach(link -> links.add(link.getFileName().toString()));
    } catch (NoSuchFileException | NotDirectoryException | InvalidPathException e) {
      links.clear();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return links;
  }

  private static String text(org.apache.hadoop.fs.Path path) {
    return path.toUri().getPath();
  }
}
