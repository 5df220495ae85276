package io.manifestcommitter.commit;

import io.manifestcommitter.layout.HiddenNames;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Swap;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks, before a commit that was cut short is rolled back or gone on with, whether another job
 * overwrote any place whose old data lies aside. An overwrite of a whole table leaves its sign only
 * at some of its places, so one sign keeps all old data where it is. Changes nothing.
 */
final class OverwrittenSince {
  private static final Logger LOG = LoggerFactory.getLogger(OverwrittenSince.class);

  private final Store store;
  private final Workers workers;

  OverwrittenSince(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * Looks.
   *
   * @throws PlaceChangedException if there was one; it has all others suppressed
   */
  void requireNone(JobPlan plan) throws IOException {
    Set<Path> asides = new FindEntries(store, workers).run(plan.swaps().asides()).keySet();
    Set<Path> roots = new HashSet<>();
    plan.replaced().forEach(old -> old.link().ifPresent(link -> roots.add(link.path())));
    List<Numbered<Swap>> directories = new ArrayList<>();
    Map<Path, OldFiles> files = new TreeMap<>();
    int number = 0;
    for (Swap swap : plan.swaps().all()) {
      boolean isAside = swap.aside().filter(asides::contains).isPresent();
      if (HiddenNames.isHidden(swap.place().getName())) {
        LOG.debug("{} is not of the table's data", swap.place());
      } else if (swap.oldFile().isPresent() && !isAlone(plan, swap, roots)) {
        files
            .computeIfAbsent(swap.place().getParent(), directory -> new OldFiles(plan, directory))
            .add(swap, isAside);
      } else if (isAside) {
        directories.add(new Numbered<>(number, swap));
      }
      number++;
    }
    Queue<PlaceChangedException> changed = new ConcurrentLinkedQueue<>();
    lookAtDirectories(plan, directories, changed);
    files.values().removeIf(directory -> !directory.hasAside());
    lookAtFiles(plan, files, changed);
    PlaceChangedException first = changed.poll();
    if (first != null) {
      changed.forEach(first::addSuppressed);
      throw first;
    }
  }

  /**
   * Whether the place of a link is looked at by itself: the job writes there, or replaces it only.
   */
  private static boolean isAlone(JobPlan plan, Swap swap, Set<Path> roots) {
    return swap.replacesLink()
        && (swap.staged().isPresent()
            || plan.missingDirectories().contains(swap.place())
            || roots.contains(swap.place()));
  }

  private void lookAtDirectories(
      JobPlan plan, List<Numbered<Swap>> aside, Queue<PlaceChangedException> changed)
      throws IOException {
    List<Path> sources = new ArrayList<>();
    aside.forEach(swap -> swap.item().staged().ifPresent(sources::add));
    Set<Path> staged = new FindEntries(store, workers).run(sources).keySet();
    UnchangedPlaces places = new UnchangedPlaces(store, plan);
    workers.forEach(
        aside,
        swap -> {
          try {
            boolean isPublished =
                swap.item().staged().filter(source -> !staged.contains(source)).isPresent();
            if (isPublished) {
              places.requirePublished(swap);
            }
            if (swap.item().replacesLink() || !isPublished) {
              places.requireFree(swap.item());
            }
          } catch (PlaceChangedException e) {
            changed.add(e);
          }
        });
  }

  /** Of directories whose old files move aside one by one. */
  private void lookAtFiles(
      JobPlan plan, Map<Path, OldFiles> directories, Queue<PlaceChangedException> changed)
      throws IOException {
    if (directories.isEmpty()) {
      return;
    }
    Set<Path> sources = new HashSet<>();
    for (FileEntry file : plan.files()) {
      if (directories.containsKey(file.destination().getParent())) {
        sources.add(file.source().getParent());
      }
    }
    Set<Path> staged = ConcurrentHashMap.newKeySet();
    workers.forEach(
        sources, source -> list(source, plan.files().count(), entry -> staged.add(entry.path())));
    workers.forEach(
        directories.values(),
        old -> {
          list(old.directory, old.recorded, old::found);
          old.requireInPlace();
        });
    for (FileEntry file : plan.files()) {
      OldFiles directory = directories.get(file.destination().getParent());
      if (directory != null && !staged.contains(file.source())) {
        directory.published(file);
      }
    }
    for (OldFiles directory : directories.values()) {
      directory.change().ifPresent(changed::add);
    }
  }

  private void list(Path directory, int expected, Store.Visitor visitor) throws IOException {
    try {
      store.list(directory, expected, visitor);
    } catch (FileNotFoundException e) {
      // Then there is nothing.
    }
  }

  /**
   * A directory whose old files move aside one by one, some of which are aside: what is neither
   * aside nor staged has to be where the job left it; where it left nothing, there has to be
   * nothing.
   */
  private static final class OldFiles {
    private final JobPlan plan;
    private final Path directory;
    private final List<Swap> inPlace = new ArrayList<>();
    private final Map<Path, StoreEntry> there = new HashMap<>();
    private final Set<Path> places = new HashSet<>();
    private int recorded;
    private Path aside;
    private boolean hasLeft;
    private String sign;

    OldFiles(JobPlan plan, Path directory) {
      this.plan = plan;
      this.directory = directory;
    }

    void add(Swap swap, boolean isAside) {
      recorded++;
      places.add(swap.place());
      if (isAside) {
        aside = swap.aside().get().getParent();
      } else {
        inPlace.add(swap);
      }
    }

    boolean hasAside() {
      return aside != null;
    }

    /** An entry of the directory. */
    void found(StoreEntry entry) {
      boolean isFile = !entry.isDirectory() || entry.linkTarget().isPresent();
      if (isFile && !isOther(entry.path()) && !HiddenNames.isHidden(entry.name())) {
        there.put(entry.path(), entry);
      }
    }

    /** Whether the job replaces a link there, which is looked at by itself. */
    private boolean isOther(Path place) {
      int swap = plan.swaps().at(place);
      return swap >= 0 && !places.contains(place) && plan.swaps().all().get(swap).replacesLink();
    }

    /** A file that is not staged any more. */
    void published(FileEntry file) {
      StoreEntry found = there.remove(file.destination());
      if (found == null || !found.isSameFileAs(file)) {
        note(file.destination() + ", which it published, is gone, or another one");
      }
      hasLeft = true;
    }

    /** Called when all of the directory was found. */
    void requireInPlace() {
      for (Swap swap : inPlace) {
        StoreEntry found = there.remove(swap.place());
        if (found == null || !found.isUntouchedSince(swap.oldFile().get())) {
          note(swap.place() + " is gone, or another one");
        }
        hasLeft = true;
      }
    }

    /** Called last: that the directory was overwritten, if it was. */
    Optional<PlaceChangedException> change() {
      if (!hasLeft && !there.isEmpty()) {
        note("it had moved the old data aside, and there is other data");
      }
      return Optional.ofNullable(sign)
          .map(first -> new PlaceChangedException(plan, directory, first, aside));
    }

    private void note(String newSign) {
      if (sign == null) {
        sign = newSign;
      }
    }
  }
}
