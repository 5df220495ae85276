package io.manifestcommitter.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

/** A part of a table that a reader looks at by itself, and what one kind of write does to it. */
final class ReaderPlace {
  private final String label;
  private final String path;
  private final List<String> old = new ArrayList<>();
  private final List<String> fresh = new ArrayList<>();
  private ReaderCourse whole;
  private ReaderCourse byFile;

  private ReaderPlace(String label, String path) {
    this.label = label;
    this.path = path;
  }

  /**
   * A place.
   *
   * @param label as the page has it
   * @param path from the root of the store
   */
  static ReaderPlace at(String label, String path) {
    return new ReaderPlace(label, path);
  }

  /** Files that are there before the job. */
  ReaderPlace old(String... names) {
    old.addAll(List.of(names));
    return this;
  }

  /** Files that the job writes. */
  ReaderPlace fresh(String... names) {
    fresh.addAll(List.of(names));
    return this;
  }

  /**
   * What happens to it.
   *
   * @param directories where whole directories are renamed
   * @param files where files are renamed one by one
   */
  ReaderPlace takes(ReaderCourse directories, ReaderCourse files) {
    whole = directories;
    byFile = files;
    return this;
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
    return paths(old);
  }

  NavigableSet<String> freshFiles() {
    return paths(fresh);
  }

  ReaderCourse course(ReaderWay way) {
    return way == ReaderWay.WHOLE_DIRECTORIES ? whole : byFile;
  }

  private NavigableSet<String> paths(List<String> names) {
    NavigableSet<String> paths = new TreeSet<>();
    names.forEach(name -> paths.add(path + "/" + name));
    return paths;
  }

  @Override
  public String toString() {
    return path;
  }
}
