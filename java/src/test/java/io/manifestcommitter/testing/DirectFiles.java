// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What lies below one directory, seen and changed past the committer: without requests, without
 * faults. Paths are relative to the directory, with {@code /} between components.
 */
public interface DirectFiles {
  /** The content of all files. */
  NavigableMap<String, String> files() throws IOException;

  /** All directories, of all levels. */
  NavigableSet<String> directories() throws IOException;

  /** The content of a file. */
  byte[] bytes(String relative) throws IOException;

  /** Writes or replaces a file and makes its parents. */
  void write(String relative, byte[] content) throws IOException;

  /** Makes a directory and its parents. */
  void mkdirs(String relative) throws IOException;

  /** Deletes a file or a tree, if it is there. */
  void delete(String relative) throws IOException;

  /** A local directory. Hadoop's checksum files are not shown. */
  public record LocalFiles(File root) implements DirectFiles {
    @Override
    public NavigableMap<String, String> files() throws IOException {
      NavigableMap<String, String> files = new TreeMap<>();
      for (Path path : all()) {
        if (Files.isRegularFile(path) && !path.getFileName().toString().endsWith(".crc")) {
          files.put(relative(path), new String(Files.readAllBytes(path), StandardCharsets.UTF_8));
        }
      }
      return files;
    }

    @Override
    public NavigableSet<String> directories() throws IOException {
      NavigableSet<String> directories = new TreeSet<>();
      for (Path path : all()) {
        if (Files.isDirectory(path)) {
          directories.add(relative(path));
        }
      }
      return directories;
    }

    @Override
    public byte[] bytes(String relative) throws IOException {
      return Files.readAllBytes(at(relative));
    }

    @Override
    public void write(String relative, byte[] content) throws IOException {
      Path file = at(relative);
      Files.createDirectories(file.getParent());
      Files.write(file, content);
      // The checksum of an earlier content is wrong now.
      Files.deleteIfExists(file.resolveSibling("." + file.getFileName() + ".crc"));
    }

    @Override
    public void mkdirs(String relative) throws IOException {
      Files.createDirectories(at(relative));
    }

    @Override
    public void delete(String relative) throws IOException {
      Path path = at(relative);
      if (!Files.exists(path)) {
        return;
      }
      try (Stream<Path> tree = Files.walk(path)) {
        for (Path each : tree.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
      Files.deleteIfExists(path.resolveSibling("." + path.getFileName() + ".crc"));
    }

    private List<Path> all() throws IOException {
      if (!root.exists()) {
        return List.of();
      }
      try (Stream<Path> tree = Files.walk(root.toPath())) {
        return tree.filter(path -> !path.equals(root.toPath())).toList();
      }
    }

    private Path at(String relative) {
      return new File(root, relative).toPath();
    }

    private String relative(Path path) {
      return root.toPath().relativize(path).toString();
    }
  }

  /** A directory of a store in memory. */
  public static final class MemoryFiles implements DirectFiles {
    private final MemoryStoreState state;
    private final String prefix;

    /** What lies below {@code root} in the store. */
    public MemoryFiles(MemoryStoreState state, String root) {
      this.state = state;
      this.prefix = root + "/";
    }

    @Override
    public NavigableMap<String, String> files() {
      NavigableMap<String, String> files = new TreeMap<>();
      state
          .files()
          .forEach(
              (path, content) -> {
                if (path.startsWith(prefix)) {
                  files.put(path.substring(prefix.length()), content);
                }
              });
      return files;
    }

    @Override
    public NavigableSet<String> directories() {
      NavigableSet<String> directories = new TreeSet<>();
      for (String path : state.directories()) {
        if (path.startsWith(prefix)) {
          directories.add(path.substring(prefix.length()));
        }
      }
      return directories;
    }

    @Override
    public byte[] bytes(String relative) {
      return state.bytes(prefix + relative);
    }

    @Override
    public void write(String relative, byte[] content) {
      state.write(prefix + relative, content);
    }

    @Override
    public void mkdirs(String relative) {
      state.mkdirs(prefix + relative);
    }

    @Override
    public void delete(String relative) {
      state.remove(prefix + relative);
    }
  }
}
