package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Removes what a failed job commit made visible: its files, by name and identity, then the
 * directories it made, if nothing else is in them. Puts back what had given way to its files.
 * Whatever another job put there stays.
 */
final class TakeBack {
  private final Store store;
  private final Workers workers;
  private final StatisticsRecorder statistics;
  private final ReplacedFiles replaced;

  TakeBack(Store store, Workers workers, StatisticsRecorder statistics, ReplacedFiles replaced) {
    this.store = store;
    this.workers = workers;
    this.statistics = statistics;
    this.replaced = replaced;
  }

  /**
   * Takes everything back, trying each request a few times, and goes on past what cannot be taken
   * back.
   *
   * @return what is still visible or may be, with the reason; empty if all is as before the commit
   */
  List<String> run(JobPlan plan, Published published) throws IOException {
    Queue<String> left = new ConcurrentLinkedQueue<>();
    Map<String, StoreEntry> asides = new HashMap<>();
    Attempts.few(() -> asides.putAll(replaced.list()));
    workers.forEach(
        Numbered.each(plan.files()),
        plan.files().count(),
        file ->
            Attempts.fewOrNote(
                file.item().destination(), left, () -> takeBack(file, published, asides)));
    new RemoveEmptyDirectories(store, workers).run(plan.missingDirectories(), left);
    return new ArrayList<>(left);
  }

  private void takeBack(
      Numbered<FileEntry> numbered, Published published, Map<String, StoreEntry> asides)
      throws IOException {
    FileEntry file = numbered.item();
    if (published.isDone(numbered.number())) {
      withdrawPublished(file);
    } else if (published.isUncertain(numbered.number())) {
      withdrawUncertain(file);
    } else {
      return;
    }
    replaced.bringBack(file.destination(), asides);
  }

  /**
   * A file that was proven to be published must be there or be gone; another one is for the user to
   * look at.
   */
  private void withdrawPublished(FileEntry file) throws IOException {
    Optional<StoreEntry> visible = store.status(file.destination());
    if (visible.isPresent() && !visible.get().isSameFileAs(file)) {
      throw new IOException("it was changed since: there is " + visible.get());
    }
    delete(file);
  }

  /**
   * A file at its source was not published; without its source, a rename that the store still works
   * on can no longer take effect. Where length alone is known of a file, and it is at its source,
   * what stands at the destination may be an old one of the same length: nothing is touched, and
   * the source goes with the job's directory.
   */
  private void withdrawUncertain(FileEntry file) throws IOException {
    if (store.status(file.source()).isPresent()) {
      boolean isKnownByLengthOnly = file.etag().isEmpty() && file.modificationTime() == 0;
      if (isKnownByLengthOnly) {
        return;
      }
      store.deleteFile(file.source());
    }
    Optional<StoreEntry> visible = store.status(file.destination());
    if (visible.isPresent() && visible.get().isSameFileAs(file)) {
      delete(file);
    }
  }

  private void delete(FileEntry file) throws IOException {
    store.deleteFile(file.destination());
    statistics.increment(StatisticNames.COMMITTER_COMMITS_REVERTED);
  }
}
