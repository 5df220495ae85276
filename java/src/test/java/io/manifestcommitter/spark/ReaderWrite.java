package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.ReaderCourse.APPEARS;
import static io.manifestcommitter.spark.ReaderCourse.EMPTIES;
import static io.manifestcommitter.spark.ReaderCourse.EMPTIES_AND_FILLS;
import static io.manifestcommitter.spark.ReaderCourse.FILLS;
import static io.manifestcommitter.spark.ReaderCourse.GROWS;
import static io.manifestcommitter.spark.ReaderCourse.STAYS;
import static io.manifestcommitter.spark.ReaderCourse.SWAPS;
import static io.manifestcommitter.spark.ReaderCourse.TURNS_OVER;
import static io.manifestcommitter.spark.ReaderCourse.VANISHES;
import static io.manifestcommitter.spark.ReaderPlace.at;
import static io.manifestcommitter.spark.SparkGround.TABLE;

import io.manifestcommitter.testing.TableWrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** The kinds of writes of {@code docs/readers.md}, each with the places that it touches or not. */
final class ReaderWrite {
  static final ReaderWrite NEW_PARTITIONS =
      new ReaderWrite(
          "append-new",
          "append, into new partitions",
          TableWrite.append(),
          at("a new partition", "/table/p=1").fresh("a", "b", "c").takes(APPEARS, FILLS),
          at("a new partition and all new ones below it, together", "/table/p=2")
              .fresh("q=1/a", "q=1/b", "q=2/r=1/c")
              .takes(APPEARS, FILLS),
          at("a new partition below one that is there", "/table/p=3/q=2")
              .fresh("a", "b")
              .takes(APPEARS, FILLS),
          at("every other partition", "/table/p=3/q=1").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite APPEND =
      new ReaderWrite(
          "append",
          "append, into partitions that are there",
          TableWrite.append(),
          at("a partition that is written to", "/table/p=1")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(GROWS, GROWS),
          at("every other partition", "/table/p=2").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite STATIC =
      new ReaderWrite(
          "static",
          "static overwrite of a partitioned table",
          TableWrite.replacing(TABLE),
          at("a partition that comes again", "/table/p=1")
              .old("x", "y", "q=1/z")
              .fresh("a", "b", "q=2/c")
              .takes(SWAPS, TURNS_OVER),
          at("a partition that does not come again", "/table/p=2")
              .old("x", "y", "z")
              .takes(VANISHES, EMPTIES),
          at("a new partition", "/table/p=3").fresh("a", "b").takes(APPEARS, FILLS));

  static final ReaderWrite ONE_PARTITION =
      new ReaderWrite(
          "partition",
          "`INSERT OVERWRITE` of one partition",
          TableWrite.replacing("/table/p=1"),
          at("that partition", "/table/p=1")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(SWAPS, TURNS_OVER),
          at("every other partition", "/table/p=2").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite ONE_PARTITION_BY_NOTHING =
      new ReaderWrite(
          "partition-by-nothing",
          "`INSERT OVERWRITE` of one partition, nothing written",
          TableWrite.replacing("/table/p=1"),
          at("that partition", "/table/p=1").old("x", "y", "q=1/z").takes(VANISHES, EMPTIES),
          at("every other partition", "/table/p=2").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite DYNAMIC =
      new ReaderWrite(
          "dynamic",
          "dynamic partition overwrite",
          TableWrite.dynamic(),
          at("a partition that is written to", "/table/p=1/q=1")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(SWAPS, TURNS_OVER),
          at("a new partition", "/table/p=3").fresh("q=1/a", "q=2/b").takes(APPEARS, FILLS),
          at("every other partition", "/table/p=1/q=2").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite CONFLICT_REPLACE =
      new ReaderWrite(
          "conflict-replace",
          "append with `conflict.mode` = `replace`",
          TableWrite.conflicts(),
          at("a partition that is written to", "/table/p=1")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(SWAPS, TURNS_OVER),
          at("a new partition", "/table/p=3").fresh("a", "b").takes(APPEARS, FILLS),
          at("every other partition", "/table/p=2").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite LOCATION_APPEND =
      new ReaderWrite(
          "location-append",
          "append, partitions at locations of their own",
          TableWrite.append(),
          at("a location without files", "/elsewhere/1").fresh("a", "b", "c").takes(FILLS, FILLS),
          at("a location with files", "/elsewhere/2")
              .old("x", "y")
              .fresh("a", "b", "c")
              .takes(GROWS, GROWS),
          at("every other partition", "/table/p=1").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite LOCATION_OVERWRITE =
      new ReaderWrite(
          "location-overwrite",
          "overwrite, partitions at locations of their own",
          TableWrite.replacing(TABLE, "/elsewhere/1", "/elsewhere/2"),
          at("a location that comes again", "/elsewhere/1")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(EMPTIES_AND_FILLS, TURNS_OVER),
          at("a location that does not come again", "/elsewhere/2")
              .old("x", "y", "z")
              .takes(EMPTIES, EMPTIES));

  static final ReaderWrite FLAT_APPEND =
      new ReaderWrite(
          "flat-append",
          "append, a table without partitions",
          TableWrite.append(),
          at("the table", "/table").old("x", "y", "z").fresh("a", "b", "c").takes(GROWS, GROWS));

  static final ReaderWrite FLAT_FIRST =
      new ReaderWrite(
          "flat-first",
          "first write, a table without partitions",
          TableWrite.append(),
          at("the table", "/table").fresh("a", "b", "c").takes(FILLS, FILLS));

  static final ReaderWrite FLAT_OVERWRITE =
      new ReaderWrite(
          "flat-overwrite",
          "overwrite, or `conflict.mode` = `replace`, of a table without partitions",
          TableWrite.replacing(TABLE),
          at("the table", "/table")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(EMPTIES_AND_FILLS, TURNS_OVER));

  static final ReaderWrite FLAT_CONFLICT_REPLACE =
      new ReaderWrite(
          "flat-conflict-replace",
          FLAT_OVERWRITE.label,
          TableWrite.conflicts(),
          FLAT_OVERWRITE.places.toArray(new ReaderPlace[0]));

  /** All of them. */
  static final List<ReaderWrite> ALL =
      List.of(
          NEW_PARTITIONS,
          APPEND,
          STATIC,
          ONE_PARTITION,
          ONE_PARTITION_BY_NOTHING,
          DYNAMIC,
          CONFLICT_REPLACE,
          LOCATION_APPEND,
          LOCATION_OVERWRITE,
          FLAT_APPEND,
          FLAT_FIRST,
          FLAT_OVERWRITE,
          FLAT_CONFLICT_REPLACE);

  private final String name;
  private final String label;
  private final TableWrite table;
  private final List<ReaderPlace> places;

  private ReaderWrite(String name, String label, TableWrite table, ReaderPlace... places) {
    this.name = name;
    this.label = label;
    this.places = List.of(places);
    this.table = table.with(rows(this.places, "", "new "));
  }

  private static Map<String, String> rows(List<ReaderPlace> places, String end, String content) {
    Map<String, String> rows = new TreeMap<>();
    for (ReaderPlace place : places) {
      place.freshFiles().forEach(file -> rows.put(file + end, content + file));
    }
    return rows;
  }

  /** The one with a name. */
  static ReaderWrite named(String name) {
    return ALL.stream().filter(write -> write.name.equals(name)).findFirst().orElseThrow();
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
    return table.with(rows(places, "-" + word, word + " "));
  }

  /** The table before. */
  NavigableMap<String, String> old() {
    NavigableMap<String, String> old = new TreeMap<>();
    places.forEach(place -> place.oldFiles().forEach(file -> old.put(file, "old " + file)));
    return old;
  }

  /** The places that it changes. */
  List<ReaderPlace> touched() {
    Map<String, String> after = table.after(old());
    List<ReaderPlace> touched = new ArrayList<>(places);
    touched.removeIf(place -> CrashOther.at(place, old()).equals(CrashOther.at(place, after)));
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
}
