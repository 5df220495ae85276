// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StoreTraits;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.fs.Path;

/**
 * Removes what a failed job commit made visible: its files, by name and identity, then the
 * directories it made, if nothing else is in them. What had given way to its files returns to its
 * place. Whatever another job put there stays.
 */
final class RollBackPublished {
  private final Store store;
  private final Workers workers;
  private final StatisticsRecorder statistics;
  private final ReplacedFiles replaced;
  private final Map<Path, Map<String, StoreEntry>> oldFiles = new ConcurrentHashMap<>();

  RollBackPublished(
      Store store, Workers workers, StatisticsRecorder statistics, ReplacedFiles replaced) {
    this.store = store;
    this.workers = workers;
    this.statistics = statistics;
    this.replaced = replaced;
  }

  /**
   * Rolls back everything that this process published, trying each request a few times, and goes on
   * past what cannot be rolled back.
   *
   * @return what is still visible or may be, with the reason; empty if all is as before the commit
   */
  List<String> run(JobPlan plan, Published published, Swapped swapped) throws IOException {
    RollBackSwaps swaps =
        new RollBackSwaps(store, workers, plan, swapped.begun(), Optional.empty());
    List<String> left =
        run(
            plan,
            swaps,
            (number, file) -> {
              if (!swaps.isMixed(swapOf(plan, file))
                  && !published.isDone(number)
                  && !published.isUncertain(number)) {
                store.abortUpload(file);
                return false;
              }
              rollBack(plan, file);
              return true;
            });
    return left.isEmpty() ? stopLateRenames(plan, published) : left;
  }

  /**
   * The store may still work on a rename that was not answered; without its source it can no longer
   * take effect. Last: a recovery takes a file that is at neither end for one that another job
   * overwrote.
   */
  private List<String> stopLateRenames(JobPlan plan, Published published) throws IOException {
    Queue<String> left = new ConcurrentLinkedQueue<>();
    workers.forEachNumbered(
        plan.files(),
        plan.files().count(),
        (number, file) -> {
          if (published.isUncertain(number) && !isKnownByLengthOnly(file) && !isUpload(file)) {
            Retries.fewOrNote(file.destination(), left, () -> stopLate(file));
          }
        });
    return new ArrayList<>(left);
  }

  /**
   * As {@link #run}, for a commit of which only the store knows how far it came. It may be repeated
   * from wherever it ended.
   *
   * @param survey of the places, if the plan replaces any
   */
  List<String> runFromStore(JobPlan plan, Optional<PlaceSurvey> survey) throws IOException {
    BitSet all = new BitSet();
    all.set(0, plan.swaps().all().size());
    RollBackSwaps swaps = new RollBackSwaps(store, workers, plan, all, survey);
    return run(
        plan,
        swaps,
        (number, file) -> {
          int swap = swapOf(plan, file);
          if (survey.isPresent() && isFencedByFile(store, file.sourceDirectory())) {
            remove(plan, file);
          } else if (swap < 0 || swaps.isMixed(swap) || swaps.isStaged(swap)) {
            rollBack(plan, file);
          }
          return true;
        });
  }

  private static int swapOf(JobPlan plan, FileEntry file) {
    return plan.swaps().bringing(file.destinationDirectory());
  }

  private List<String> run(JobPlan plan, RollBackSwaps swaps, Removal removal) throws IOException {
    Queue<String> left = new ConcurrentLinkedQueue<>();
    swaps.rollBackPublished(left);
    Map<String, StoreEntry> asides = new HashMap<>();
    Retries.fewOrNote(replaced.directory(), left, () -> asides.putAll(replaced.list()));
    workers.forEachNumbered(
        plan.files(),
        plan.files().count(),
        (number, file) ->
            Retries.fewOrNote(
                file.destination(),
                left,
                () -> {
                  if (removal.run(number, file)) {
                    replaced.rollBack(file.destination(), asides);
                  }
                }));
    Set<Path> made = new HashSet<>(plan.missingDirectories());
    for (Path directory : plan.swaps().directories()) {
      int swap = plan.swaps().bringing(directory);
      if (swaps.isMixed(swap) || swaps.isStaged(swap)) {
        made.add(directory);
      }
    }
    new RemoveEmptyDirectories(store, workers).run(made, left);
    swaps.rollBackAsides(left);
    if (!asides.isEmpty()) {
      workers.forEach(
          plan.missingDirectories(),
          directory ->
              Retries.fewOrNote(directory, left, () -> replaced.rollBack(directory, asides)));
    }
    return new ArrayList<>(left);
  }

  /** Whether what is at a source tells nobody any more what is at its destination. */
  static boolean isFencedByFile(Store store, Path path) {
    StoreTraits traits = store.traits(path);
    return !traits.hasAtomicDirectoryRename() && !traits.completesUploads();
  }

  private void stopLate(FileEntry file) throws IOException {
    store.deleteFile(file.source());
    Optional<StoreEntry> visible = store.status(file.destination());
    if (visible.isPresent() && visible.get().isSameFileAs(file)) {
      store.deleteFile(file.destination());
      statistics.increment(StatisticNames.COMMITTER_COMMITS_REVERTED);
    }
  }

  private static boolean isKnownByLengthOnly(FileEntry file) {
    return file.etag().isEmpty() && file.modificationTime() == 0;
  }

  /**
   * The file at the destination is ours only if none is at the source: it may be an old one that
   * looks alike, or one that came back. It goes back to its source, so that this can be told again
   * if the rolling back is repeated, and goes with the job's directory.
   */
  private void rollBack(JobPlan plan, FileEntry file) throws IOException {
    if (isUpload(file)) {
      // First the upload, so that no completion of it can come later; then what it became.
      store.abortUpload(file);
      remove(plan, file);
      return;
    }
    if (store.status(file.source()).isPresent()) {
      return;
    }
    Optional<StoreEntry> visible = store.status(file.destination());
    if (!visible.isPresent() || isOldOther(plan, visible.get(), file)) {
      return;
    }
    StoreEntry published = visible.get();
    RenameResult result = Retries.rename(store, published.movedTo(file.source()));
    result.orThrow("it is still visible");
    statistics.increment(StatisticNames.COMMITTER_COMMITS_REVERTED);
  }

  private boolean isUpload(FileEntry file) {
    return store.traits(file.destination()).completesUploads();
  }

  /** Of a file that nobody can publish any more. */
  private void remove(JobPlan plan, FileEntry file) throws IOException {
    Optional<StoreEntry> visible = store.status(file.destination());
    if (!visible.isPresent() || isOldOther(plan, visible.get(), file)) {
      return;
    }
    store.deleteFile(file.destination());
    statistics.increment(StatisticNames.COMMITTER_COMMITS_REVERTED);
  }

  /**
   * Whether it is no file of this job's, but the old one that was to be replaced, as it was.
   *
   * @throws IOException if it is neither
   */
  private boolean isOldOther(JobPlan plan, StoreEntry visible, FileEntry file) throws IOException {
    boolean looksAlike = visible.isSameFileAs(file);
    if (looksAlike && !isKnownByLengthOnly(file)) {
      return false;
    }
    StoreEntry then = oldFiles(plan, file.destinationDirectory()).get(visible.name());
    if (then != null && visible.isUntouchedSince(then)) {
      return true;
    }
    if (!looksAlike) {
      throw new IOException("it was changed since: there is " + visible);
    }
    return false;
  }

  private Map<String, StoreEntry> oldFiles(JobPlan plan, Path directory) {
    return oldFiles.computeIfAbsent(
        directory,
        any ->
            plan.replaced().stream()
                .filter(old -> old.path().equals(directory))
                .findFirst()
                .map(OldDirectory::filesByName)
                .orElse(Map.of()));
  }

  /** Rolls one file back. */
  private interface Removal {
    /** Rolls it back, and says whether it was to be. */
    boolean run(int number, FileEntry file) throws IOException;
  }
}
