// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static io.manifestcommitter.testing.SparkGround.TABLE;
import static io.manifestcommitter.trials.ReaderPage.ReaderCourse.APPEARS;
import static io.manifestcommitter.trials.ReaderPage.ReaderCourse.EMPTIES;
import static io.manifestcommitter.trials.ReaderPage.ReaderCourse.EMPTIES_AND_FILLS;
import static io.manifestcommitter.trials.ReaderPage.ReaderCourse.FILLS;
import static io.manifestcommitter.trials.ReaderPage.ReaderCourse.GROWS;
import static io.manifestcommitter.trials.ReaderPage.ReaderCourse.STAYS;
import static io.manifestcommitter.trials.ReaderPage.ReaderCourse.SWAPS;
import static io.manifestcommitter.trials.ReaderPage.ReaderCourse.TURNS_OVER;
import static io.manifestcommitter.trials.ReaderPage.ReaderCourse.VANISHES;
import static io.manifestcommitter.trials.ReaderWrite.ReaderPlace.at;

import io.manifestcommitter.testing.TableWrite;
import io.manifestcommitter.trials.ReaderPage.ReaderCourse;
import io.manifestcommitter.trials.ReaderPage.ReaderWay;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The kinds of writes of {@code docs/using/readers.md}, each with the places that it touches or
 * not.
 */
final class ReaderWrite {
  /** All of them. */
  static final List<ReaderWrite> ALL =
      List.of(
          new ReaderWrite(
              "append-new",
              "append, into new partitions",
              TableWrite.append(),
              at("a new partition", "/table/p=1: -> a b c", APPEARS, FILLS),
              at(
                  "a new partition and all new ones below it, together",
                  "/table/p=2: -> q=1/a q=1/b q=2/r=1/c",
                  APPEARS,
                  FILLS),
              at(
                  "a new partition below one that is there",
                  "/table/p=3/q=2: -> a b",
                  APPEARS,
                  FILLS),
              at("every other partition", "/table/p=3/q=1: x y ->", STAYS, STAYS)),
          new ReaderWrite(
              "append",
              "append, into partitions that are there",
              TableWrite.append(),
              at("a partition that is written to", "/table/p=1: x y z -> a b c", GROWS, GROWS),
              at("every other partition", "/table/p=2: x y ->", STAYS, STAYS)),
          new ReaderWrite(
              "static",
              "static overwrite of a partitioned table",
              TableWrite.replacing(TABLE),
              at(
                  "a partition that comes again",
                  "/table/p=1: x y q=1/z -> a b q=2/c",
                  SWAPS,
                  TURNS_OVER),
              at("a partition that does not come again", "/table/p=2: x y z ->", VANISHES, EMPTIES),
              at("a new partition", "/table/p=3: -> a b", APPEARS, FILLS)),
          new ReaderWrite(
              "partition",
              "`INSERT OVERWRITE` of one partition",
              TableWrite.replacing("/table/p=1"),
              at("that partition", "/table/p=1: x y z -> a b c", SWAPS, TURNS_OVER),
              at("every other partition", "/table/p=2: x y ->", STAYS, STAYS)),
          new ReaderWrite(
              "partition-by-nothing",
              "`INSERT OVERWRITE` of one partition, nothing written",
              TableWrite.replacing("/table/p=1"),
              at("that partition", "/table/p=1: x y q=1/z ->", VANISHES, EMPTIES),
              at("every other partition", "/table/p=2: x y ->", STAYS, STAYS)),
          new ReaderWrite(
              "dynamic",
              "dynamic partition overwrite",
              TableWrite.dynamic(),
              at(
                  "a partition that is written to",
                  "/table/p=1/q=1: x y z -> a b c",
                  SWAPS,
                  TURNS_OVER),
              at("a new partition", "/table/p=3: -> q=1/a q=2/b", APPEARS, FILLS),
              at("every other partition", "/table/p=1/q=2: x y ->", STAYS, STAYS)),
          new ReaderWrite(
              "conflict-replace",
              "append with `mapreduce.manifest.committer.conflict.mode` = `replace`",
              TableWrite.conflicts(),
              at("a partition that is written to", "/table/p=1: x y z -> a b c", SWAPS, TURNS_OVER),
              at("a new partition", "/table/p=3: -> a b", APPEARS, FILLS),
              at("every other partition", "/table/p=2: x y ->", STAYS, STAYS)),
          new ReaderWrite(
              "location-append",
              "append, partitions at locations of their own",
              TableWrite.append(),
              at("a location without files", "/elsewhere/1: -> a b c", FILLS, FILLS),
              at("a location with files", "/elsewhere/2: x y -> a b c", GROWS, GROWS),
              at("every other partition", "/table/p=1: x y ->", STAYS, STAYS)),
          new ReaderWrite(
              "location-overwrite",
              "overwrite, partitions at locations of their own",
              TableWrite.replacing(TABLE, "/elsewhere/1", "/elsewhere/2"),
              at(
                  "a location that comes again",
                  "/elsewhere/1: x y z -> a b c",
                  EMPTIES_AND_FILLS,
                  TURNS_OVER),
              at(
                  "a location that does not come again",
                  "/elsewhere/2: x y z ->",
                  EMPTIES,
                  EMPTIES)),
          new ReaderWrite(
              "flat-append",
              "append, a table without partitions",
              TableWrite.append(),
              at("the table", "/table: x y z -> a b c", GROWS, GROWS)),
          new ReaderWrite(
              "flat-first",
              "first write, a table without partitions",
              TableWrite.append(),
              at("the table", "/table: -> a b c", FILLS, FILLS)),
          new ReaderWrite(
              "flat-overwrite",
              "overwrite, or `mapreduce.manifest.committer.conflict.mode` = `replace`, of a table without partitions",
              TableWrite.replacing(TABLE),
              at("the table", "/table: x y z -> a b c", EMPTIES_AND_FILLS, TURNS_OVER)),
          new ReaderWrite(
              "flat-conflict-replace",
              "overwrite, or `mapreduce.manifest.committer.conflict.mode` = `replace`, of a table without partitions",
              TableWrite.conflicts(),
              at("the table", "/table: x y z -> a b c", EMPTIES_AND_FILLS, TURNS_OVER)));

  private final String name;
  private final String label;
  private final TableWrite table;
  private final List<ReaderPlace> places;

  private ReaderWrite(String name, String label, TableWrite table, ReaderPlace... places) {
    this.name = name;
    this.label = label;
    this.places = List.of(places);
    this.table = table.with(rows("", "new "));
  }

  /** The one with a name. */
  static ReaderWrite named(String name) {
    return ALL.stream().filter(write -> write.name.equals(name)).findFirst().orElseThrow();
  }

  private Map<String, String> rows(String end, String content) {
    Map<String, String> rows = new TreeMap<>();
    for (ReaderPlace place : places) {
      place.freshFiles().forEach(file -> rows.put(file + end, content + file));
    }
    return rows;
  }

  /** By which it is repeated. */
  String name() {
    return name;
  }

  /** As the page has it; two of them may share a row. */
  String label() {
    return label;
  }

  /** Everything that a reader can see in the table, before and after. */
  List<ReaderPlace> places() {
    return places;
  }

  /** What it makes of the table; its rows are "new" before the path of their file. */
  TableWrite table() {
    return table;
  }

  /** The same by a writer whose word is in the names of its files and in its rows. */
  TableWrite by(String word) {
    return table.with(rows("-" + word, word + " "));
  }

  /** The table before. */
  NavigableMap<String, String> old() {
    NavigableMap<String, String> old = new TreeMap<>();
    for (ReaderPlace place : places) {
      place.oldFiles().forEach(file -> old.put(file, "old " + file));
    }
    return old;
  }

  /** The places that it changes. */
  List<ReaderPlace> touched() {
    Map<String, String> after = table.after(old());
    List<ReaderPlace> touched = new ArrayList<>(places);
    touched.removeIf(place -> place.in(old()).equals(place.in(after)));
    return touched;
  }

  /** Whether no place of it is the table itself. */
  boolean hasPartitions() {
    return places.stream().noneMatch(place -> place.path().equals(TABLE));
  }

  /** Whether a job was there before. */
  boolean hasLastReport() {
    return !old().isEmpty();
  }

  @Override
  public String toString() {
    return label;
  }

  /** A part of a table that a reader looks at by itself, and what one kind of write does to it. */
  record ReaderPlace(
      String label,
      String path,
      NavigableSet<String> old,
      NavigableSet<String> fresh,
      ReaderCourse whole,
      ReaderCourse byFile) {
    /**
     * A place.
     *
     * @param label as the page has it
     * @param files its path from the root of the store, the files that are there before the job,
     *     and those that the job writes: "/table/p=1: x y -> a b"
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
}
