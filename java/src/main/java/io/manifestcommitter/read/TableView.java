// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.journal.CommitJournal.State;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * The files of a table as the jobs that have committed left it, by one listing. The new files of
 * other jobs are left out, and so are the old files that a committed job replaces. What lies aside
 * counts at its place. What is aside and in no plan belongs to a job that put it there before its
 * directory moved. The places are listed first, so that what moves aside meanwhile is seen twice
 * and not missed.
 */
final class TableView {
  private final Store store;
  private final Workers workers;
  private final Path table;
  private final TableState state;

  /** Its files by the places where they belong; a job may keep one elsewhere for now. */
  final Map<Path, StoreEntry> files = new HashMap<>();

  /** What jobs that have not committed replace, and no listing has shown yet. */
  private final Map<OpenJob, Set<Path>> toFind = new HashMap<>();

  /** Why it is no whole state of the table; empty if it may be one. */
  Optional<String> missing = Optional.empty();

  private TableView(Store store, Workers workers, Path table, TableState state) {
    this.store = store;
    this.workers = workers;
    this.table = table;
    this.state = state;
  }

  /**
   * Lists what a look has found. One request for each directory in the table. For each commit that
   * has moved old data aside, or is rolled back, two and one for each directory that is aside.
   */
  static TableView of(Store store, Workers workers, Path table, TableState state)
      throws IOException {
    TableView view = new TableView(store, workers, table, state);
    // Old data that a job is to replace was there when it was planned, so is there until then.
    for (OpenJob job : state.open) {
      Set<Path> old = new HashSet<>();
      if (!job.isCommitted()) {
        old.addAll(job.planned().old.keySet());
        old.removeIf(place -> isHidden(StorePaths.relative(table, place)));
      }
      view.toFind.put(job, old);
    }
    Tree root = new Tree(table, table, true);
    List<Tree> below = new ArrayList<>();
    state.entries.forEach(entry -> view.add(root, entry, below));
    view.walk(below);
    List<Tree> aside = new ArrayList<>();
    for (OpenJob job : state.open) {
      view.findAside(job, aside);
    }
    view.walk(aside);
    view.toFind.forEach(
        (job, old) ->
            old.stream()
                .limit(1)
                .map(place -> "job " + job + " has " + place + " to replace, which is not found")
                .forEach(view::miss));
    return view;
  }

  /** Whether another view has the same files, wherever they are. */
  boolean isSameAs(TableView other) {
    return files.keySet().equals(other.files.keySet())
        && files.entrySet().stream()
            .allMatch(file -> file.getValue().isSameFileAs(other.files.get(file.getKey())));
  }

  private synchronized void miss(String what) {
    missing = Optional.of(missing.orElse(what));
  }

  private void findAside(OpenJob job, List<Tree> found) throws IOException {
    Map<String, Path> asides = job.planned().asides;
    List<StoreEntry> holders = new ArrayList<>();
    if (!asides.isEmpty()) {
      store.listIfThere(job.root.allOld(), holders::add);
    }
    for (StoreEntry holder : holders) {
      List<StoreEntry> entries = list(new Tree(holder.path(), holder.path(), true));
      for (StoreEntry entry : entries) {
        Path place = asides.get(entry.name());
        if (place != null && entry.isDirectory()) {
          found.add(new Tree(entry.path(), place, true));
        } else if (place != null && isShown(place.getName(), entry)) {
          add(place, entry);
        }
      }
    }
    // While it is rolled back, what others put into its directories may be staged.
    if (job.state == State.REVOKED && !job.planned().swapped.isEmpty()) {
      store.listIfThere(
          job.root.attempt(),
          entry -> {
            if (StagingRoot.holderOfSealed(entry.name()).isPresent()) {
              for (Path place : job.planned().swapped) {
                String relative = StorePaths.relative(table, place);
                found.add(new Tree(StorePaths.resolve(entry.path(), relative), place, false));
              }
            }
          });
    }
  }

  /** Lists trees, one level after the other. */
  private void walk(List<Tree> trees) throws IOException {
    List<Tree> level = trees;
    while (!level.isEmpty()) {
      List<Tree> below = new ArrayList<>();
      List<List<StoreEntry>> found = workers.map(level, this::list);
      for (int i = 0; i < level.size(); i++) {
        for (StoreEntry entry : found.get(i)) {
          add(level.get(i), entry, below);
        }
      }
      level = below;
    }
  }

  private List<StoreEntry> list(Tree tree) throws IOException {
    List<StoreEntry> entries = new ArrayList<>();
    if (!store.listIfThere(tree.at, entries::add) && tree.wasSeen) {
      miss("a directory went away while it was listed");
    }
    return entries;
  }

  private void add(Tree in, StoreEntry entry, List<Tree> below) {
    if (!isShown(entry.name(), entry)) {
      return;
    }
    Path place = in.at.equals(in.place) ? entry.path() : StorePaths.resolve(in.place, entry.name());
    if (entry.isDirectory()) {
      below.add(new Tree(entry.path(), place, true));
    } else {
      add(place, entry);
    }
  }

  /** A file that moved meanwhile is listed twice, and was last seen where it is listed last. */
  private void add(Path place, StoreEntry file) {
    boolean isLeftOut = false;
    for (OpenJob job : state.open) {
      isLeftOut |= job.leavesOut(place, file);
      if (job.isOld(place, file)) {
        toFind.get(job).remove(place);
      }
    }
    if (!isLeftOut) {
      files.put(place, file);
    }
  }

  /** As Spark lists a table, which leaves out what is hidden, and links that lead to nothing. */
  private static boolean isShown(String name, StoreEntry entry) {
    return !StagingRoot.isHidden(name) && (entry.isDirectory() || entry.isSameFileAs(entry));
  }

  static boolean isHidden(String relative) {
    return Arrays.stream(relative.split("/", -1)).anyMatch(StagingRoot::isHidden);
  }

  /** A directory, where it belongs, and whether another listing showed it. */
  private static final class Tree {
    private final Path at;
    private final Path place;
    private final boolean wasSeen;

    Tree(Path at, Path place, boolean wasSeen) {
      this.at = at;
      this.place = place;
      this.wasSeen = wasSeen;
    }

    @Override
    public String toString() {
      return at.toString();
    }
  }
}
