// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.testing.EtagStatus;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;

/**
 * The directories of the table, the reports and whatever else a committer writes itself: kept on
 * the local disk. Paths are those of the store, without scheme.
 */
final class ScratchStore {
  private final Path root;

  ScratchStore(Path root) {
    this.root = root;
  }

  /** The entry at a path. */
  FileStatus status(String key, org.apache.hadoop.fs.Path path) throws IOException {
    try {
      BasicFileAttributes found = Files.readAttributes(local(key), BasicFileAttributes.class);
      long time = found.lastModifiedTime().toMillis();
      return found.isDirectory()
          ? new FileStatus(0, true, 1, 1, time, path)
          : new EtagStatus(found.size(), time, path, found.fileKey() + "-" + time);
    } catch (NoSuchFileException e) {
      throw notFound(key, e);
    }
  }

  /** Whether there is something at a path. */
  boolean exists(String key) {
    return Files.exists(local(key));
  }

  /** The names in a directory. */
  List<String> list(String key) throws IOException {
    try (Stream<Path> entries = Files.list(local(key))) {
      return entries
          .map(entry -> entry.getFileName().toString())
          .sorted()
          .collect(Collectors.toList());
    } catch (NoSuchFileException e) {
      throw notFound(key, e);
    }
  }

  void mkdirs(String key) throws IOException {
    Files.createDirectories(local(key));
  }

  OutputStream create(String key) throws IOException {
    Files.createDirectories(local(key).getParent());
    return Files.newOutputStream(local(key));
  }

  ChannelInput open(String key) throws IOException {
    try {
      FileChannel channel = FileChannel.open(local(key), StandardOpenOption.READ);
      return new ChannelInput(channel, 0, channel.size(), ChannelInput.Ending.CLOSES);
    } catch (NoSuchFileException e) {
      throw notFound(key, e);
    }
  }

  /** Renames to a path at which there is nothing, in a directory that is there. */
  synchronized boolean rename(String source, String destination) throws IOException {
    if (!exists(source)
        || exists(destination)
        || !Files.isDirectory(local(destination).getParent())) {
      return false;
    }
    Files.move(local(source), local(destination));
    return true;
  }

  /** Deletes; says whether there was something. */
  boolean delete(String key, boolean recursive) throws IOException {
    if (!exists(key)) {
      return false;
    }
    if (recursive) {
      deleteTree(local(key));
      return true;
    }
    try {
      return Files.deleteIfExists(local(key));
    } catch (DirectoryNotEmptyException e) {
      PathIsNotEmptyDirectoryException refusal = new PathIsNotEmptyDirectoryException(key);
      refusal.initCause(e);
      throw refusal;
    }
  }

  /** Deletes a local directory and all below it. */
  static void deleteTree(Path directory) throws IOException {
    List<Path> all;
    try (Stream<Path> walk = Files.walk(directory)) {
      all = walk.collect(Collectors.toCollection(ArrayList::new));
    }
    Collections.reverse(all);
    for (Path path : all) {
      Files.deleteIfExists(path);
    }
  }

  void refuseExisting(String key) throws FileAlreadyExistsException {
    if (exists(key)) {
      throw new FileAlreadyExistsException(key);
    }
  }

  private Path local(String key) {
    return root.resolve(key.substring(1));
  }

  private static FileNotFoundException notFound(String key, Exception cause) {
    FileNotFoundException notFound = new FileNotFoundException(key);
    notFound.initCause(cause);
    return notFound;
  }
}
