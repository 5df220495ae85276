// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.testing.SparkGround;
import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** A part of a table that a reader looks at by itself, and what one kind of write does to it. */
final class ReaderPlace {
  private final String label;
  private final String path;
  private final NavigableSet<String> old;
  private final NavigableSet<String> fresh;
  private final ReaderCourse whole;
  private final ReaderCourse byFile;

  private ReaderPlace(
      String label,
      String path,
      NavigableSet<String> old,
      NavigableSet<String> fresh,
      ReaderCourse whole,
      ReaderCourse byFile) {
    this.label = label;
    this.path = path;
    this.old = old;
    this.fresh = fresh;
    this.whole = whole;
    this.byFile = byFile;
  }

  /**
   * A place.
   *
   * @param label as the page has it
   * @param files its path from the root of the store, the files that are there before the job, and
   *     those that the job writes: "/table/p=1: x y -> a b"
   * @param whole what happens to it where whole directories are renamed
   * @param byFile the same where files are renamed one by one
   */
  static ReaderPlace at(String label, String files, ReaderCourse whole, ReaderCourse byFile) {
    String[] parts = files.split(": ?| ?-> ?", 3);
    return new ReaderPlace(
        label, parts[0], paths(parts[0], parts[1]), paths(parts[0], parts[2]), whole, byFile);
  }

  private static NavigableSet<String> paths(String path, String names) {
    NavigableSet<String> paths = new TreeSet<>();
    for (String name : names.isEmpty() ? new String[0] : names.split(" ", -1)) {
      paths.add(path + "/" + name);
    }
    return Collections.unmodifiableNavigableSet(paths);
  }

  String label() {
    return label;
  }

  String path() {
    return path;
  }

  /** Whether it lies outside the table's directory. */
  boolean isCustomLocation() {
    return !(path + "/").startsWith(SparkGround.TABLE + "/");
  }

  NavigableSet<String> oldFiles() {
    return old;
  }

  NavigableSet<String> freshFiles() {
    return fresh;
  }

  ReaderCourse course(ReaderWay way) {
    boolean isByFile =
        way == ReaderWay.FILE_BY_FILE
            || (way == ReaderWay.OLD_FILES_LAST && whole == ReaderCourse.EMPTIES_AND_FILLS);
    return isByFile ? byFile : whole;
  }

  /** The part of a table that is at it. */
  NavigableMap<String, String> in(Map<String, String> table) {
    NavigableMap<String, String> part = new TreeMap<>(table);
    part.keySet().removeIf(file -> !file.startsWith(path + "/"));
    return part;
  }

  @Override
  public String toString() {
    return path;
  }
}
