// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.Rights;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;

/**
 * Decides, for one staging directory, which places of the table are published or replaced by
 * renames of whole directories. What it leaves out is done file by file.
 *
 * <p>A directory may go to a place only if what is made there gets the same rights as what was made
 * in the staging directory. So the place is below a directory that has the rights of the target
 * itself. Nor may anything in the old content have to stay: no other job's staging directory.
 */
final class PlanSwaps {
  private final Store store;
  private final StagingRoot root;
  private final Path output;
  private final ExistingDirectories existing;
  private final ReplacedDirectories old;
  private final List<Swap> swaps = new ArrayList<>();
  private final Set<Path> places = new HashSet<>();
  private Optional<Rights> targetsRights = Optional.empty();

  /**
   * Decisions about one staging directory, on a store that renames directories atomically.
   *
   * @param output the sealed output
   * @param existing what stands at the places of the output's directories
   * @param old the old data that the job replaces, there or in other trees
   */
  PlanSwaps(
      Store store,
      StagingRoot root,
      Path output,
      ExistingDirectories existing,
      ReplacedDirectories old) {
    this.store = store;
    this.root = root;
    this.output = output;
    this.existing = existing;
    this.old = old;
  }

  /**
   * The swaps.
   *
   * @param destinations the directories of the output, of all levels, as they will be in the table
   * @param replacedRoots what this job replaces below the target, or the target itself
   */
  List<Swap> run(Collection<Path> destinations, Collection<Path> replacedRoots) throws IOException {
    Set<Path> staged = new HashSet<>(destinations);
    for (Path replaced : replacedRoots) {
      if (replaced.equals(root.directory())) {
        replaceTopLevel(staged);
      } else if (old.find(replaced).isPresent()) {
        replace(replaced, staged);
      }
    }
    for (Path directory : new TreeSet<>(staged)) {
      if (isHighestMissing(directory) && mayHold(directory.getParent())) {
        add(new Swap(directory, stagedAt(directory), null, null));
      }
    }
    return swaps;
  }

  private void replaceTopLevel(Set<Path> staged) throws IOException {
    Optional<OldDirectory> target = old.find(root.directory());
    if (!target.isPresent()) {
      return;
    }
    // A recovery that takes the commit from a living driver could not keep it from moving such a
    // file.
    boolean staysUntilTheEnd = store.traits(root.root()).makesParentsOfRenamedFiles();
    for (StoreEntry file : staysUntilTheEnd ? List.<StoreEntry>of() : target.get().files()) {
      add(new Swap(file.path(), null, nextAside(), file));
    }
    for (Path directory : old.byParent.getOrDefault(root.directory(), List.of())) {
      replace(directory, staged);
    }
  }

  private void replace(Path directory, Set<Path> staged) throws IOException {
    if (old.aboveStaging.contains(directory)
        || !mayHold(directory.getParent())
        || !isPlain(directory)) {
      return;
    }
    Path comes = staged.contains(directory) ? stagedAt(directory) : null;
    add(new Swap(directory, comes, nextAside(), null));
  }

  private void add(Swap swap) {
    swaps.add(swap);
    places.add(swap.place);
  }

  /** Whether it is missing, and its parent is not, nor comes with a swap. */
  private boolean isHighestMissing(Path directory) {
    Path parent = directory.getParent();
    return !directory.equals(root.directory())
        && !existing.directories.contains(directory)
        && (parent.equals(root.directory()) || existing.directories.contains(parent))
        && !StorePaths.isSameOrBelowOne(places, directory);
  }

  /**
   * Whether a directory made in the staging directory is, in {@code parent}, as if it was made
   * there.
   */
  private boolean mayHold(Path parent) throws IOException {
    if (parent.equals(root.directory())) {
      return true;
    }
    Optional<StoreEntry> entry = entry(parent);
    return entry.isPresent() && entry.get().rights().areSameAs(targetsRights());
  }

  /** Whether no encryption zone begins in it: what comes instead of it would be in none. */
  private boolean isPlain(Path directory) throws IOException {
    Optional<StoreEntry> entry = entry(directory);
    if (!store.traits(directory).hasZones()) {
      return entry.isPresent();
    }
    return entry.isPresent()
        && (targetsRights().isEncrypted() || !old.aboveEncrypted.contains(directory))
        && targetsRights().isEncrypted() == entry.get().rights().isEncrypted();
  }

  private Rights targetsRights() throws IOException {
    if (!targetsRights.isPresent()) {
      targetsRights = entry(root.directory()).map(StoreEntry::rights);
    }
    return targetsRights.orElseThrow(
        () -> new IOException(root.directory() + " is gone: nothing was published"));
  }

  private Optional<StoreEntry> entry(Path directory) throws IOException {
    Optional<StoreEntry> seen = existing.entry(directory);
    if (!seen.isPresent()) {
      seen = old.find(directory).flatMap(replaced -> replaced.entry);
    }
    return seen.isPresent() ? seen : store.status(directory);
  }

  private Path stagedAt(Path destination) {
    return StorePaths.resolve(output, StorePaths.relative(root.directory(), destination));
  }

  /** A name that no directory of a table has: a store may put one directory into another. */
  private Path nextAside() {
    return new Path(root.old(), swaps.size() + "-" + root.root().getName());
  }

  /** The old data that a job replaces, in all of its trees, by directory. Immutable. */
  static final class ReplacedDirectories {
    private final Map<Path, OldDirectory> byPath = new HashMap<>();
    private final Map<Path, List<Path>> byParent = new HashMap<>();

    /** Those that hold staging directories of jobs, also further below. */
    private final Set<Path> aboveStaging = new HashSet<>();

    /** Those that are encrypted, or hold one that is. */
    private final Set<Path> aboveEncrypted = new HashSet<>();

    /** What was found; a directory's children are in the order in which they come. */
    ReplacedDirectories(Collection<OldDirectory> replaced) {
      for (OldDirectory directory : replaced) {
        Path path = directory.path;
        byPath.put(path, directory);
        byParent.computeIfAbsent(path.getParent(), parent -> new ArrayList<>()).add(path);
        if (directory.holdsStaging) {
          StorePaths.addUpwards(path, aboveStaging);
        }
        if (directory.entry.filter(entry -> entry.rights().isEncrypted()).isPresent()) {
          StorePaths.addUpwards(path, aboveEncrypted);
        }
      }
    }

    /** A directory of old data; empty if it is none. */
    Optional<OldDirectory> find(Path directory) {
      return Optional.ofNullable(byPath.get(directory));
    }
  }
}
