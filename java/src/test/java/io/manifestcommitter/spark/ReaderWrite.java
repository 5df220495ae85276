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

import java.util.List;

/** The kinds of writes of {@code docs/readers.md}, each with the places that it touches or not. */
final class ReaderWrite {
  static final ReaderWrite NEW_PARTITIONS =
      new ReaderWrite(
          "append, into new partitions",
          Replaces.NOTHING,
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
          "append, into partitions that are there",
          Replaces.NOTHING,
          at("a partition that is written to", "/table/p=1")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(GROWS, GROWS),
          at("every other partition", "/table/p=2").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite STATIC =
      new ReaderWrite(
          "static overwrite of a partitioned table",
          Replaces.TABLE,
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
          "`INSERT OVERWRITE` of one partition",
          Replaces.FIRST_PLACE,
          at("that partition", "/table/p=1")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(SWAPS, TURNS_OVER),
          at("every other partition", "/table/p=2").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite ONE_PARTITION_BY_NOTHING =
      new ReaderWrite(
          "`INSERT OVERWRITE` of one partition, nothing written",
          Replaces.FIRST_PLACE,
          at("that partition", "/table/p=1").old("x", "y", "q=1/z").takes(VANISHES, EMPTIES),
          at("every other partition", "/table/p=2").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite DYNAMIC =
      new ReaderWrite(
          "dynamic partition overwrite",
          Replaces.WHAT_IS_WRITTEN,
          at("a partition that is written to", "/table/p=1/q=1")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(SWAPS, TURNS_OVER),
          at("a new partition", "/table/p=3").fresh("q=1/a", "q=2/b").takes(APPEARS, FILLS),
          at("every other partition", "/table/p=1/q=2").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite CONFLICT_REPLACE =
      new ReaderWrite(
          "append with `conflict.mode` = `replace`",
          Replaces.CONFLICTS,
          at("a partition that is written to", "/table/p=1")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(SWAPS, TURNS_OVER),
          at("a new partition", "/table/p=3").fresh("a", "b").takes(APPEARS, FILLS),
          at("every other partition", "/table/p=2").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite LOCATION_APPEND =
      new ReaderWrite(
          "append, partitions at locations of their own",
          Replaces.NOTHING,
          at("a location without files", "/elsewhere/1").fresh("a", "b", "c").takes(FILLS, FILLS),
          at("a location with files", "/elsewhere/2")
              .old("x", "y")
              .fresh("a", "b", "c")
              .takes(GROWS, GROWS),
          at("every other partition", "/table/p=1").old("x", "y").takes(STAYS, STAYS));

  static final ReaderWrite LOCATION_OVERWRITE =
      new ReaderWrite(
          "overwrite, partitions at locations of their own",
          Replaces.TABLE_AND_LOCATIONS,
          at("a location that comes again", "/elsewhere/1")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(EMPTIES_AND_FILLS, TURNS_OVER),
          at("a location that does not come again", "/elsewhere/2")
              .old("x", "y", "z")
              .takes(EMPTIES, EMPTIES));

  static final ReaderWrite FLAT_APPEND =
      new ReaderWrite(
          "append, a table without partitions",
          Replaces.NOTHING,
          at("the table", "/table").old("x", "y", "z").fresh("a", "b", "c").takes(GROWS, GROWS));

  static final ReaderWrite FLAT_FIRST =
      new ReaderWrite(
          "first write, a table without partitions",
          Replaces.NOTHING,
          at("the table", "/table").fresh("a", "b", "c").takes(FILLS, FILLS));

  static final ReaderWrite FLAT_OVERWRITE =
      new ReaderWrite(
          "overwrite, or `conflict.mode` = `replace`, of a table without partitions",
          Replaces.TABLE,
          at("the table", "/table")
              .old("x", "y", "z")
              .fresh("a", "b", "c")
              .takes(EMPTIES_AND_FILLS, TURNS_OVER));

  static final ReaderWrite FLAT_CONFLICT_REPLACE =
      new ReaderWrite(
          FLAT_OVERWRITE.label,
          Replaces.CONFLICTS,
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

  private final String label;
  private final Replaces replaces;
  private final List<ReaderPlace> places;

  private ReaderWrite(String label, Replaces replaces, ReaderPlace... places) {
    this.label = label;
    this.replaces = replaces;
    this.places = List.of(places);
  }

  /** As the page has it; two of them may share a row. */
  String label() {
    return label;
  }

  Replaces replaces() {
    return replaces;
  }

  /** Everything that a reader can see in the table, before and after. */
  List<ReaderPlace> places() {
    return places;
  }

  /** Whether a job was there before. */
  boolean hasLastReport() {
    return this != FLAT_FIRST;
  }

  @Override
  public String toString() {
    return label;
  }

  /** What a job is asked to replace. */
  enum Replaces {
    NOTHING,
    TABLE,
    TABLE_AND_LOCATIONS,
    FIRST_PLACE,
    /** Every partition that it writes to: dynamic partition overwrite. */
    WHAT_IS_WRITTEN,
    /** Every partition that it writes to, by the conflict mode. */
    CONFLICTS
  }
}
