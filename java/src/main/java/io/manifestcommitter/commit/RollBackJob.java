// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.PlaceChangedException;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StoreTraits;
import java.io.IOException;
import java.util.ArrayList;
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
import org.apache.hadoop.util.functional.BiFunctionRaisingIOE;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;

/**
 * Rolls back a commit that is not past its point of no return, so that the table is as it was.
 * First the report is rolled back, then the files, by name and identity, and the directories that
 * the commit made, if nothing else is in them. Then what had given way to them returns, and last
 * the report of the job before. What another job put there stays.
 */
public final class RollBackJob {
  private final CommitWork work;
  private final JobPlan plan;
  private final Store store;
  private final Map<Path, Map<String, StoreEntry>> oldFiles = new ConcurrentHashMap<>();

  public RollBackJob(CommitWork work, JobPlan plan) {
    this.work = work;
    this.plan = plan;
    this.store = work.store;
  }

  /**
   * Rolls back what this process did, after that failed. What cannot be rolled back is added to the
   * failure.
   *
   * @return whether nothing is left
   */
  public boolean afterFailure(Throwable failure) {
    work.workers.toItsEnd();
    return run(failure, this::rollBackPublished);
  }

  /**
   * For a commit that another process has taken over: returns the last report, if this process
   * moved it aside after the other one had looked. Nothing gives way to it.
   *
   * @param mayBeOwn whether it may be this job's, by which the other one has completed it
   */
  public void afterLoss(boolean mayBeOwn, Throwable failure) {
    Queue<String> left = new ConcurrentLinkedQueue<>();
    work.report.rollBackLast(mayBeOwn, left);
    if (!left.isEmpty()) {
      failure.addSuppressed(
          new IOException("The last report was not moved back: " + String.join(", ", left)));
    }
  }

  /**
   * Rolls back what an earlier try, which may have run anywhere, did. May be repeated from wherever
   * it ended.
   *
   * @throws PlaceChangedException if another job overwrote a place since; it changed nothing then
   * @throws IOException if something could not be rolled back; it names that
   */
  public void fromStore() throws IOException {
    work.workers.shield(
        () -> {
          begin();
          keepFromDriver();
          PlaceSurvey survey = PlaceSurvey.of(work, plan);
          survey.requireNotOverwritten();
          fromStore(Optional.of(survey), "The commit was not rolled back completely");
        });
  }

  /**
   * As above, of a plan that replaces nothing: no place is looked at for what another job
   * overwrote.
   *
   * @param reason of the failure if something is left
   */
  public void fromStore(String reason) throws IOException {
    begin();
    fromStore(Optional.empty(), reason);
  }

  private void begin() {
    work.enter(StatisticNames.JOB_STAGE_ABORT);
    work.workers.toItsEnd();
  }

  /**
   * Where no directory is renamed atomically, the sources go before any destination is looked at: a
   * driver that was taken for dead, and lives, publishes nothing more. The report, too.
   */
  private void keepFromDriver() throws IOException {
    if (isFencedByFile(plan.table) || store.traits(plan.table).replacesOnlyWhatWasSeen()) {
      work.report.discardPrepared(!plan.replaced.isEmpty());
    }
    List<Target> targets = new ArrayList<>(plan.targets);
    targets.removeIf(target -> !isFencedByFile(target.staging));
    work.workers.forEach(
        targets,
        target ->
            Retries.few(
                () -> store.deleteTree(new StagingRoot(target.directory, plan.jobId).output())));
  }

  /** Whether what is at a source tells nobody any more what is at its destination. */
  private boolean isFencedByFile(Path path) {
    StoreTraits traits = store.traits(path);
    return !traits.hasAtomicDirectoryRename() && !traits.completesUploads();
  }

  private void fromStore(Optional<PlaceSurvey> survey, String reason) throws IOException {
    IOException failure = new IOException(reason);
    if (!run(failure, left -> rollBackFromStore(survey, left))) {
      throw failure;
    }
  }

  private boolean run(Throwable failure, ConsumerRaisingIOE<Queue<String>> rollBack) {
    Queue<String> left = new ConcurrentLinkedQueue<>();
    try {
      work.report.rollBack(left);
      work.awaitRenames(plan, /* ofAnybody= */ false);
      rollBack.accept(left);
    } catch (IOException | RuntimeException e) {
      left.add("any file of this job in " + plan.table + " (" + e + ")");
    }
    work.report.rollBackLast(/* isOwnLast= */ false, left);
    if (!left.isEmpty()) {
      failure.addSuppressed(
          new IOException(
              "The failed job "
                  + work.job.jobId
                  + " could not roll back what it had published. "
                  + work.job.advice
                  + ". What is left: "
                  + String.join(", ", left)));
    }
    return left.isEmpty();
  }

  /**
   * Rolls back everything that this process published, trying each request a few times, and goes on
   * past what cannot be rolled back.
   *
   * @param left takes what is still visible or may be, with the reason
   */
  private void rollBackPublished(Queue<String> left) throws IOException {
    Published published = work.published;
    List<Swap> begun = new ArrayList<>(plan.swaps.all);
    begun.retainAll(published.begunSwaps);
    RollBackSwaps swaps = new RollBackSwaps(work, plan, begun, Optional.empty());
    int before = left.size();
    rollBack(
        swaps,
        left,
        (number, file) -> {
          if (!swaps.isMixed(swapOf(file))
              && !published.isDone(number)
              && !published.isUncertain(number)) {
            store.abortUpload(file);
            return false;
          }
          rollBack(file);
          return true;
        });
    if (left.size() == before) {
      stopLateRenames(left);
    }
  }

  /**
   * The store may still work on a rename that was not answered; without its source it can no longer
   * take effect. Last: a recovery takes a file that is at neither end for one that another job
   * overwrote.
   */
  private void stopLateRenames(Queue<String> left) throws IOException {
    work.workers.forEachNumbered(
        plan.files,
        (number, file) -> {
          if (work.published.isUncertain(number)
              && !isKnownByLengthOnly(file)
              && !file.isUpload()) {
            Retries.fewOrNote(file.destination(), left, () -> stopLate(file));
          }
        });
  }

  private void stopLate(FileEntry file) throws IOException {
    store.deleteFile(file.source());
    Optional<StoreEntry> visible = store.status(file.destination());
    if (visible.isPresent() && visible.get().isSameFileAs(file)) {
      store.deleteFile(file.destination());
      work.statistics.increment(StatisticNames.COMMITTER_COMMITS_REVERTED);
    }
  }

  /**
   * As {@link #rollBackPublished}, for a commit of which only the store knows how far it came. It
   * may be repeated from wherever it ended.
   *
   * @param survey of the places, if the plan replaces any
   */
  private void rollBackFromStore(Optional<PlaceSurvey> survey, Queue<String> left)
      throws IOException {
    RollBackSwaps swaps = new RollBackSwaps(work, plan, plan.swaps.all, survey);
    rollBack(
        swaps,
        left,
        (number, file) -> {
          Optional<Swap> swap = swapOf(file);
          if (survey.isPresent()
              && file.sourceDirectory().filter(this::isFencedByFile).isPresent()) {
            remove(file);
          } else if (!swap.isPresent() || swaps.isMixed(swap) || swaps.isStaged(swap)) {
            rollBack(file);
          }
          return true;
        });
  }

  private Optional<Swap> swapOf(FileEntry file) {
    return plan.swaps.bringing(file.destinationDirectory());
  }

  /**
   * Rolls everything back.
   *
   * @param removal rolls one file back, by its number, and says whether it was to be
   */
  private void rollBack(
      RollBackSwaps swaps,
      Queue<String> left,
      BiFunctionRaisingIOE<Integer, FileEntry, Boolean> removal)
      throws IOException {
    swaps.rollBackPublished(left);
    Map<String, StoreEntry> asides = new HashMap<>();
    Retries.fewOrNote(work.replaced.directory, left, () -> asides.putAll(work.replaced.list()));
    work.workers.forEachNumbered(
        plan.files,
        (number, file) ->
            Retries.fewOrNote(
                file.destination(),
                left,
                () -> {
                  if (removal.apply(number, file)) {
                    work.replaced.rollBack(file.destination(), asides);
                  }
                }));
    Set<Path> made = new HashSet<>(plan.missingDirectories);
    for (Path directory : plan.swaps.directories()) {
      Optional<Swap> swap = plan.swaps.bringing(directory);
      if (swaps.isMixed(swap) || swaps.isStaged(swap)) {
        made.add(directory);
      }
    }
    RemoveOldData.deleteEmpty(store, work.workers, made, left);
    swaps.rollBackAsides(left);
    if (!asides.isEmpty()) {
      work.workers.forEach(
          plan.missingDirectories,
          directory ->
              Retries.fewOrNote(directory, left, () -> work.replaced.rollBack(directory, asides)));
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
  private void rollBack(FileEntry file) throws IOException {
    if (file.isUpload()) {
      // First the upload, so that no completion of it can come later; then what it became.
      store.abortUpload(file);
      remove(file);
    } else if (!store.status(file.source()).isPresent()) {
      Optional<StoreEntry> published = published(file);
      if (published.isPresent()) {
        RenameResult result = Retries.rename(store, published.get().movedTo(file.source()));
        result.orThrow("it is still visible");
        work.statistics.increment(StatisticNames.COMMITTER_COMMITS_REVERTED);
      }
    }
  }

  /** Of a file that nobody can publish any more. */
  private void remove(FileEntry file) throws IOException {
    if (published(file).isPresent()) {
      store.deleteFile(file.destination());
      work.statistics.increment(StatisticNames.COMMITTER_COMMITS_REVERTED);
    }
  }

  /**
   * The job's file at the destination; empty if there is none, or the old one that was to be
   * replaced, as it was.
   *
   * @throws IOException if there is neither
   */
  private Optional<StoreEntry> published(FileEntry file) throws IOException {
    Optional<StoreEntry> visible = store.status(file.destination());
    boolean looksAlike = visible.filter(entry -> entry.isSameFileAs(file)).isPresent();
    if (!visible.isPresent() || (looksAlike && !isKnownByLengthOnly(file))) {
      return visible;
    }
    StoreEntry then = oldFiles(file.destinationDirectory()).get(file.name());
    if (then != null && visible.get().isUntouchedSince(then)) {
      return Optional.empty();
    }
    if (!looksAlike) {
      throw new IOException("it was changed since: there is " + visible.get());
    }
    return visible;
  }

  private Map<String, StoreEntry> oldFiles(Path directory) {
    return oldFiles.computeIfAbsent(
        directory,
        any ->
            plan.replaced.stream()
                .filter(old -> old.path.equals(directory))
                .findFirst()
                .map(OldDirectory::filesByName)
                .orElse(Map.of()));
  }
}
