// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.NameIndex;
import io.manifestcommitter.store.StoreEntry;
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
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;

/**
 * The swaps of a plan, and which of its directories and files come with them: names in about 40
 * bytes each. Immutable.
 */
public final class Swaps {
  public final List<Swap> all;

  private final Map<Path, Swap> byPlace = new HashMap<>();
  private final Map<Path, Directory> directories = new LinkedHashMap<>();
  private final NameIndex names = new NameIndex();

  /**
   * Swaps.
   *
   * @param swaps at places that do not contain one another
   * @param planned the plan's directories, of all levels
   * @param files the plan's files
   */
  Swaps(List<Swap> swaps, Collection<Path> planned, Collection<FileEntry> files) {
    this.all = List.copyOf(swaps);
    swaps.forEach(swap -> byPlace.put(swap.place, swap));
    for (Path directory : swaps.isEmpty() ? Set.<Path>of() : new TreeSet<>(planned)) {
      at(directory)
          .filter(swap -> swap.staged.isPresent())
          .ifPresent(swap -> directories.put(directory, new Directory(directories.size(), swap)));
    }
    if (!directories.isEmpty()) {
      files.forEach(this::add);
    }
  }

  private void add(FileEntry file) {
    Path parent = file.destinationDirectory();
    Directory directory = directories.get(parent);
    if (directory != null) {
      names.add(directory.number, file.name());
      directory.files++;
      directory.swap.files++;
      directory.swap.withFiles = directory.swap.withFiles.or(() -> Optional.of(parent));
    }
  }

  /** Where old data moves, for all swaps that replace some. */
  public List<Path> asides() {
    return all.stream().flatMap(swap -> swap.aside.stream()).collect(Collectors.toList());
  }

  /** Where the directories that are published were staged. */
  public List<Path> staged() {
    return all.stream().flatMap(swap -> swap.staged.stream()).collect(Collectors.toList());
  }

  /** The swap that brings a directory of the plan with it, if one does. */
  public Optional<Swap> bringing(Path directory) {
    return Optional.ofNullable(directories.get(directory)).map(known -> known.swap);
  }

  /** The swap at whose place a path lies, if there is one. */
  public Optional<Swap> at(Path path) {
    Path place = path;
    while (place != null && !byPlace.containsKey(place)) {
      place = place.getParent();
    }
    return Optional.ofNullable(byPlace.get(place));
  }

  /** Whether what is at a path moves aside. */
  public boolean movesAside(Path old) {
    return at(old).filter(swap -> swap.aside.isPresent()).isPresent();
  }

  /** The directories, of all levels, that swaps bring with them; a parent before its children. */
  public Set<Path> directories() {
    return Collections.unmodifiableSet(directories.keySet());
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
    private final Swap swap;
    private int files;

    Directory(int number, Swap swap) {
      this.number = number;
      this.swap = swap;
    }
  }

  /**
   * What renames of a whole directory do to one place in a table. The old content moves aside, if
   * it is to be replaced; the staged directory takes its place, if the job wrote one.
   */
  public static final class Swap {
    public final Path place;

    /** The directory that is published here, empty if none is. */
    public final Optional<Path> staged;

    /** Where the old content goes, empty if there is none to replace. */
    public final Optional<Path> aside;

    /** The old content, if that is a file; else it is a directory. */
    public final Optional<StoreEntry> oldFile;

    private int files;
    private Optional<Path> withFiles = Optional.empty();

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

    /** How many files of the plan it brings with it. */
    public int files() {
      return files;
    }

    /** A directory that it brings with it and that has files; empty if it brings no files. */
    public Optional<Path> directoryWithFiles() {
      return withFiles;
    }

    @Override
    public String toString() {
      return place
          + staged.map(path -> " from " + path).orElse("")
          + aside.map(path -> ", the old content to " + path).orElse("");
    }
  }
}
