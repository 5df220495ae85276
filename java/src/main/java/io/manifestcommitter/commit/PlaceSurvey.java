// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.PlaceChangedException;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the store shows of the places of a commit that was cut short: how far each of its swaps
 * came, and whether another job overwrote a place since. The sign of an overwrite is that something
 * is gone which the commit left there. Where the commit left nothing (the old data was aside, the
 * new not there yet), the sign is that there is something. After an overwrite neither the old data
 * nor the new belongs there, and only a human can tell what does.
 */
final class PlaceSurvey {
  private static final Logger LOG = LoggerFactory.getLogger(PlaceSurvey.class);
  private static final int NAMED = 3;

  private final Store store;
  private final Workers workers;
  private final JobPlan plan;
  private final List<Swap> swaps;

  /** The swaps whose old content is aside. */
  private final Set<Swap> aside = new LinkedHashSet<>();

  /** Those that have a new directory, which is not where it was staged. */
  private final Set<Swap> brought = new LinkedHashSet<>();

  private PlaceSurvey(CommitWork work, JobPlan plan) {
    this.store = work.store;
    this.workers = work.workers;
    this.plan = plan;
    this.swaps = plan.swaps.all;
  }

  /**
   * A look at both ends of each swap, once what went inside another directory is staged again. Two
   * requests for each directory that is not where it was staged, and one or more for where they
   * were.
   */
  static PlaceSurvey of(CommitWork work, JobPlan plan) throws IOException {
    PlaceSurvey survey = new PlaceSurvey(work, plan);
    survey.look();
    if (work.workers
        .map(survey.brought, swap -> SwapDirectories.unnest(work.store, plan.swaps, swap))
        .contains(true)) {
      survey.look();
    }
    return survey;
  }

  private void look() throws IOException {
    List<Path> ends = plan.swaps.asides();
    ends.addAll(plan.swaps.staged());
    Set<Path> there = new FindEntries(store, workers).run(ends).keySet();
    aside.addAll(swaps);
    aside.removeIf(swap -> !swap.aside.filter(there::contains).isPresent());
    brought.addAll(swaps);
    brought.removeIf(swap -> !swap.staged.filter(staged -> !there.contains(staged)).isPresent());
  }

  /**
   * Requires that no other job overwrote a place whose old data is aside. An overwrite of a whole
   * table leaves its sign only at some of its places, so one sign keeps all old data where it is.
   *
   * @throws PlaceChangedException if one did; it has all others suppressed
   */
  void requireNotOverwritten() throws IOException {
    List<Swap> directories = new ArrayList<>();
    Map<Path, OldFiles> files = new TreeMap<>();
    for (Swap swap : swaps) {
      if (StagingRoot.isHidden(swap.place.getName())) {
        LOG.debug("{} is not of the table's data", swap.place);
      } else if (swap.oldFile.isPresent()) {
        files
            .computeIfAbsent(swap.place.getParent(), directory -> new OldFiles(plan, directory))
            .add(swap, aside.contains(swap));
      } else if (aside.contains(swap)) {
        directories.add(swap);
      }
    }
    Changes changes = new Changes();
    workers.forEach(directories, swap -> changes.look(() -> requireNotOverwritten(swap)));
    files.values().removeIf(directory -> directory.aside == null);
    lookAtFiles(files, changes);
    changes.requireNone();
  }

  /**
   * Requires it of the place of one swap, if its old data was aside when it was looked at.
   *
   * @throws PlaceChangedException if it was overwritten
   */
  void requireNotOverwritten(Swap swap) throws IOException {
    if (!aside.contains(swap)) {
      return;
    }
    if (brought.contains(swap)) {
      requirePublished(swap);
    } else {
      requireFree(swap);
    }
  }

  /**
   * Requires, of a commit that is gone on with, that all its places are as it left them or found
   * them, and tells how far its swaps came.
   *
   * @param published learns of it
   * @throws PlaceChangedException if one is not; it has all others suppressed
   */
  void resume(Published published) throws IOException {
    Changes changes = new Changes();
    workers.forEach(
        swaps,
        swap -> {
          boolean wasFree = !swap.aside.isPresent() && !plan.replaced.isEmpty();
          if (brought.contains(swap)) {
            changes.look(() -> requirePublished(swap));
          } else if (aside.contains(swap) || wasFree) {
            changes.look(() -> requireFree(swap));
          }
        });
    published.begunSwaps.addAll(aside);
    published.begunSwaps.addAll(brought);
    published.aside.addAll(aside);
    published.brought.addAll(brought);
    workers.forEach(published.inPlace(plan), old -> changes.look(() -> requireOld(old)));
    changes.requireNone();
  }

  /** Requires that all that a swap brought is at its place. */
  private void requirePublished(Swap swap) throws IOException {
    int there =
        PlaceContent.list(store, swap.place, PlaceContent.Claim.planned(plan.swaps)).claimed;
    if (there < swap.files()) {
      throw changed(
          swap, swap.files() - there + " of " + swap.files() + " files that it published are gone");
    }
  }

  /** Requires that there is nothing at the place of a swap, but files of the job. */
  private void requireFree(Swap swap) throws IOException {
    Optional<StoreEntry> there = store.status(swap.place);
    if (there.isPresent()
        && (!there.get().isDirectory()
            || PlaceContent.list(store, swap.place, PlaceContent.Claim.own(plan)).hasForeign)) {
      throw changed(
          swap,
          swap.aside.isPresent()
              ? "it had moved the old data aside, and there is other data"
              : "there was nothing, and there is other data");
    }
  }

  private PlaceChangedException changed(Swap swap, String sign) {
    return new PlaceChangedException(plan.jobId, swap.place, sign, swap.aside);
  }

  /** Requires that a directory of old data is as it was found; others may have added to it. */
  private void requireOld(OldDirectory old) throws IOException {
    Map<Path, StoreEntry> missing = new HashMap<>();
    old.files().forEach(file -> missing.put(file.path(), file));
    if (missing.isEmpty()) {
      return;
    }
    store.listIfThere(
        old.path,
        missing.size(),
        entry ->
            missing.computeIfPresent(
                entry.path(),
                (path, recorded) -> entry.isUntouchedSince(recorded) ? null : recorded));
    if (!missing.isEmpty()) {
      throw new PlaceChangedException(
          plan.jobId,
          old.path,
          missing.size()
              + " files that it was to replace are gone, or others, as "
              + missing.keySet().stream().sorted().limit(NAMED).collect(Collectors.toList()),
          Optional.empty());
    }
  }

  /** Of directories whose old files move aside one by one. */
  private void lookAtFiles(Map<Path, OldFiles> directories, Changes changes) throws IOException {
    if (directories.isEmpty()) {
      return;
    }
    Set<Path> sources = new HashSet<>();
    for (FileEntry file : plan.files) {
      if (directories.containsKey(file.destinationDirectory())) {
        file.sourceDirectory().ifPresent(sources::add);
      }
    }
    Set<Path> staged = ConcurrentHashMap.newKeySet();
    workers.forEach(
        sources,
        source -> store.listIfThere(source, plan.files.size(), entry -> staged.add(entry.path())));
    Collection<OldFiles> all = directories.values();
    workers.forEach(
        all,
        old -> {
          store.listIfThere(old.directory, old.recorded, old::found);
          old.requireInPlace();
        });
    for (FileEntry file : plan.files) {
      OldFiles directory = directories.get(file.destinationDirectory());
      if (directory != null && (file.isUpload() || !staged.contains(file.source()))) {
        directory.published(file);
      }
    }
    for (OldFiles directory : all) {
      changes.look(directory::requireUnchanged);
    }
  }

  /** The places that were changed, all of which are told. */
  private static final class Changes {
    private final Queue<PlaceChangedException> all = new ConcurrentLinkedQueue<>();

    void look(InvocationRaisingIOE look) throws IOException {
      try {
        look.apply();
      } catch (PlaceChangedException e) {
        all.add(e);
      }
    }

    void requireNone() throws PlaceChangedException {
      PlaceChangedException first = all.poll();
      if (first != null) {
        all.forEach(first::addSuppressed);
        throw first;
      }
    }
  }

  /**
   * A directory whose old files move aside one by one, some of which are aside. What is neither
   * aside nor staged has to be where the job left it. Where the job left nothing, there has to be
   * nothing.
   */
  private static final class OldFiles {
    private final JobPlan plan;
    private final Path directory;
    private final List<Swap> inPlace = new ArrayList<>();
    private final Map<Path, StoreEntry> there = new HashMap<>();
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
      if (isAside) {
        aside = swap.aside.get().getParent();
      } else {
        inPlace.add(swap);
      }
    }

    /** An entry of the directory. */
    void found(StoreEntry entry) {
      if (!entry.isDirectory() && !StagingRoot.isHidden(entry.name())) {
        there.put(entry.path(), entry);
      }
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
        StoreEntry found = there.remove(swap.place);
        if (found == null || !found.isUntouchedSince(swap.oldFile.get())) {
          note(swap.place + " is gone, or another one");
        }
        hasLeft = true;
      }
    }

    /** Called last. */
    void requireUnchanged() throws PlaceChangedException {
      if (!hasLeft && !there.isEmpty()) {
        note("it had moved the old data aside, and there is other data");
      }
      if (sign != null) {
        throw new PlaceChangedException(plan.jobId, directory, sign, Optional.of(aside));
      }
    }

    private void note(String newSign) {
      if (sign == null) {
        sign = newSign;
      }
    }
  }
}
