// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** What a table holds, seen through a filesystem. */
public final class TableFiles {
  private TableFiles() {}

  /**
   * What a reader sees: what has no component in its path below the table that starts with an
   * underscore or a dot. The relative path, which ends in a slash for a directory, and the content.
   */
  public static NavigableMap<String, String> visible(FileSystem fs, Path table) throws IOException {
    NavigableMap<String, String> entries = new TreeMap<>();
    collect(fs, table, "", entries);
    return entries;
  }

  private static void collect(
      FileSystem fs, Path directory, String prefix, NavigableMap<String, String> entries)
      throws IOException {
    for (FileStatus child : fs.listStatus(directory)) {
      String name = child.getPath().getName();
      if (name.startsWith("_") || name.startsWith(".")) {
        continue;
      }
      if (child.isDirectory()) {
        entries.put(prefix + name + "/", "");
        collect(fs, child.getPath(), prefix + name + "/", entries);
      } else {
        entries.put(prefix + name, read(fs, child.getPath()));
      }
    }
  }

  /** The names of the staging directories in a table, or at a location. */
  public static List<String> staging(FileSystem fs, Path table) throws IOException {
    List<String> names = new ArrayList<>();
    for (FileStatus child : fs.listStatus(table)) {
      if (child.getPath().getName().startsWith("_manifest_")) {
        names.add(child.getPath().getName());
      }
    }
    return names;
  }

  /** The content of a file. */
  public static String read(FileSystem fs, Path file) throws IOException {
    try (FSDataInputStream in = fs.open(file)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Creates a file, which must not be there. */
  public static void write(FileSystem fs, Path file, String content) throws IOException {
    try (FSDataOutputStream out = fs.create(file, false)) {
      out.write(content.getBytes(StandardCharsets.UTF_8));
    }
  }
}
