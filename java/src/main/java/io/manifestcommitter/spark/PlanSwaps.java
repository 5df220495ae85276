package io.manifestcommitter.spark;

import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.plan.ExistingDirectories;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.store.Rights;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;

/**
 * Decides, for one staging tree, which places of the table are published or replaced by renames of
 * whole directories. What it leaves out is done file by file.
 *
 * <p>A directory may go to a place only if what is made there gets the same rights as what was made
 * in the staging tree, so below a directory that has those of the target itself; and only if
 * nothing in the old content has to stay: no other job's staging tree, no link to elsewhere.
 */
final class PlanSwaps {
  private final Store store;
  private final StagingRoot root;
  private final Path output;
  private final ExistingDirectories existing;
  private final NavigableMap<Path, OldDirectory> old = new TreeMap<>();
  private final Set<Path> aboveStaging = new HashSet<>();
  private final Set<Path> aboveEncrypted = new HashSet<>();
  private final List<Swap> swaps = new ArrayList<>();
  private final Set<Path> places = new HashSet<>();
  private Optional<Rights> targetsRights = Optional.empty();

  /**
   * Decisions about one staging tree, on a store that renames directories atomically.
   *
   * @param output the sealed output
   * @param existing what stands at the places of the output's directories
   * @param replaced the old data that the job replaces, there or in other trees
   */
  PlanSwaps(
      Store store,
      StagingRoot root,
      Path output,
      ExistingDirectories existing,
      Collection<OldDirectory> replaced) {
    this.store = store;
    this.root = root;
    this.output = output;
    this.existing = existing;
    for (OldDirectory directory : replaced) {
      old.put(directory.path(), directory);
      if (directory.holdsStaging()) {
        addUpwards(directory.path(), aboveStaging);
      }
      if (directory.entry().filter(entry -> entry.rights().isEncrypted()).isPresent()) {
        addUpwards(directory.path(), aboveEncrypted);
      }
    }
  }

  private static void addUpwards(Path directory, Set<Path> paths) {
    for (Path path = directory; path != null && paths.add(path); path = path.getParent()) {}
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
      } else if (old.containsKey(replaced)) {
        replace(replaced, staged);
      }
    }
    for (Path directory : new TreeSet<>(staged)) {
      if (isHighestMissing(directory) && mayHold(directory.getParent())) {
        add(Swap.publish(directory, stagedAt(directory)));
      }
    }
    return swaps;
  }

  private void replaceTopLevel(Set<Path> staged) throws IOException {
    OldDirectory target = old.get(root.directory());
    if (target == null) {
      return;
    }
    for (StoreEntry file : target.files()) {
      add(Swap.withdraw(file, nextAside()));
    }
    for (Path directory : new ArrayList<>(old.keySet())) {
      if (root.directory().equals(directory.getParent())) {
        replace(directory, staged);
      }
    }
  }

  private void replace(Path directory, Set<Path> staged) throws IOException {
    if (aboveStaging.contains(directory)
        || !mayHold(directory.getParent())
        || !isPlain(directory)) {
      return;
    }
    add(
        staged.contains(directory)
            ? Swap.replace(directory, stagedAt(directory), nextAside())
            : Swap.withdraw(directory, nextAside()));
  }

  private void add(Swap swap) {
    swaps.add(swap);
    places.add(swap.place());
  }

  /** Whether it is missing, and its parent is not, nor comes with a swap. */
  private boolean isHighestMissing(Path directory) {
    Path parent = directory.getParent();
    return !directory.equals(root.directory())
        && !existing.directories().contains(directory)
        && (parent.equals(root.directory()) || existing.directories().contains(parent))
        && !isInSwap(directory);
  }

  private boolean isInSwap(Path directory) {
    for (Path path = directory; path != null; path = path.getParent()) {
      if (places.contains(path)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether a directory made in the staging tree is, in {@code parent}, as if it was made there.
   */
  private boolean mayHold(Path parent) throws IOException {
    if (parent.equals(root.directory())) {
      return true;
    }
    Optional<StoreEntry> entry = entry(parent);
    return entry.isPresent() && entry.get().rights().areSameAs(targetsRights());
  }

  /**
   * Whether it is a directory of the same volume, and no encryption zone begins in it: what comes
   * instead of it would be in none.
   */
  private boolean isPlain(Path directory) throws IOException {
    Optional<StoreEntry> entry = entry(directory);
    return entry.isPresent()
        && entry.get().rights().isOnSameVolumeAs(targetsRights())
        && (targetsRights().isEncrypted() || !aboveEncrypted.contains(directory))
        && targetsRights().isEncrypted() == entry.get().rights().isEncrypted();
  }

  private Rights targetsRights() throws IOException {
    if (!targetsRights.isPresent()) {
      targetsRights = store.status(root.directory()).map(StoreEntry::rights);
    }
    return targetsRights.orElseThrow(
        () -> new IOException(root.directory() + " is gone: nothing was published"));
  }

  private Optional<StoreEntry> entry(Path directory) throws IOException {
    Optional<StoreEntry> seen = existing.entry(directory);
    if (!seen.isPresent() && old.containsKey(directory)) {
      seen = old.get(directory).entry();
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
}
