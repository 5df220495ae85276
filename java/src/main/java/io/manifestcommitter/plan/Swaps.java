// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.NameIndex;
import io.manifestcommitter.store.StoreEntry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;

/**
 * The swaps of a plan, and which of its directories and files come with them: names in about 40
 * bytes each. Immutable.
 */
public final class Swaps {
  /** No swaps: everything is done file by file. */
  public static final Swaps NONE = new Swaps(List.of(), List.of());

  private final List<Swap> swaps;
  private final Map<Path, Integer> byPlace = new HashMap<>();
  private final Map<Path, Directory> directories = new LinkedHashMap<>();
  private final Path[] firstWithFiles;
  private final NameIndex names = new NameIndex();
  private final int[] files;
  private Path lastParent;
  private Directory last;

  /**
   * Swaps.
   *
   * @param swaps at places that do not contain one another
   * @param planned the plan's directories, of all levels
   */
  Swaps(List<Swap> swaps, Collection<Path> planned) {
    this.swaps = List.copyOf(swaps);
    this.files = new int[swaps.size()];
    this.firstWithFiles = new Path[swaps.size()];
    for (Swap swap : swaps) {
      byPlace.put(swap.place, byPlace.size());
    }
    for (Path directory : new TreeSet<>(planned)) {
      int swap = at(directory);
      if (swap >= 0 && swaps.get(swap).staged.isPresent()) {
        directories.put(directory, new Directory(directories.size(), swap));
      }
    }
  }

  /** Notes a file of the plan. Neighbours are in the same directory, mostly. */
  @SuppressWarnings("ReferenceEquality")
  void add(FileEntry file) {
    Path parent = file.destinationDirectory();
    if (parent != lastParent) {
      lastParent = parent;
      last = directories.get(parent);
    }
    Directory directory = last;
    if (directory != null) {
      names.add(directory.number, file.name());
      directory.files++;
      files[directory.swap]++;
      if (firstWithFiles[directory.swap] == null) {
        firstWithFiles[directory.swap] = parent;
      }
    }
  }

  /** The swaps. */
  public List<Swap> all() {
    return swaps;
  }

  /** Where old data moves, for all swaps that replace some. */
  public List<Path> asides() {
    List<Path> asides = new ArrayList<>();
    swaps.forEach(swap -> swap.aside.ifPresent(asides::add));
    return asides;
  }

  /** Where the directories that are published were staged. */
  public List<Path> staged() {
    List<Path> staged = new ArrayList<>();
    swaps.forEach(swap -> swap.staged.ifPresent(staged::add));
    return staged;
  }

  /** The number of the swap that brings a directory of the plan with it; -1 if none does. */
  public int bringing(Path directory) {
    Directory known = directories.get(directory);
    return known == null ? -1 : known.swap;
  }

  /** The number of the swap at whose place a path lies; -1 if there is none. */
  public int at(Path path) {
    for (Path above = path; above != null; above = above.getParent()) {
      Integer swap = byPlace.get(above);
      if (swap != null) {
        return swap;
      }
    }
    return -1;
  }

  /** Whether what is at a path moves aside. */
  boolean movesAside(Path old) {
    int swap = at(old);
    return swap >= 0 && swaps.get(swap).aside.isPresent();
  }

  /** The directories, of all levels, that swaps bring with them; a parent before its children. */
  public Set<Path> directories() {
    return Collections.unmodifiableSet(directories.keySet());
  }

  /** A directory that a swap brings with it and that has files; empty if it brings no files. */
  public Optional<Path> directoryWithFiles(int swap) {
    return Optional.ofNullable(firstWithFiles[swap]);
  }

  /** How many files of the plan a swap brings with it. */
  public int filesBroughtBy(int swap) {
    return files[swap];
  }

  /** How many files of the plan lie directly in a directory that a swap brings with it. */
  public int filesIn(Path directory) {
    return directories.get(directory).files;
  }

  /** Whether a file of this name in a directory that a swap brings with it is one of the plan's. */
  public boolean names(Path directory, String name) {
    return names.find(directories.get(directory).number, name) >= 0;
  }

  private static final class Directory {
    private final int number;
    private final int swap;
    private int files;

    Directory(int number, int swap) {
      this.number = number;
      this.swap = swap;
    }
  }

  /**
   * What renames of a whole directory do to one place in a table. The old content moves aside, if
   * it is to be replaced; the staged directory takes its place, if the job wrote one.
   */
  public static final class Swap {
    /** The place in the table. */
    public final Path place;

    /** The directory that is published here, empty if none is. */
    public final Optional<Path> staged;

    /** Where the old content goes, empty if there is none to replace. */
    public final Optional<Path> aside;

    /** The old content, if that is a file; else it is a directory. */
    public final Optional<StoreEntry> oldFile;

    /**
     * A swap, of which one half may be missing.
     *
     * @param staged the directory that is published; null if the old content goes, and nothing
     *     comes
     * @param aside where the old content goes; null if there is none
     * @param oldFile the old content, if that is a file; else null
     */
    public Swap(Path place, Path staged, Path aside, StoreEntry oldFile) {
      this.place = Objects.requireNonNull(place);
      this.staged = Optional.ofNullable(staged);
      this.aside = Optional.ofNullable(aside);
      this.oldFile = Optional.ofNullable(oldFile);
    }

    @Override
    public String toString() {
      return place
          + staged.map(path -> " from " + path).orElse("")
          + aside.map(path -> ", the old content to " + path).orElse("");
    }
  }
}
