package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Removes what a failed job commit made visible: its files, by name and identity, then the
 * directories it made, if nothing else is in them. Whatever another job put there stays.
 */
final class TakeBack {
  private final Store store;
  private final Workers workers;

  TakeBack(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * Takes everything back, trying each request a few times, and goes on past what cannot be taken
   * back.
   *
   * @return what is still visible or may be, with the reason; empty if all is as before the commit
   */
  List<String> run(JobPlan plan, Published published) throws IOException {
    Queue<String> left = new ConcurrentLinkedQueue<>();
    workers.forEach(
        published.published(),
        file -> Attempts.fewOrNote(file.destination(), left, () -> withdrawPublished(file)));
    workers.forEach(
        published.uncertain(),
        file ->
            Attempts.fewOrNote(
                file.destination(),
                left,
                () -> {
                  // Without its source, a rename that the store still works on can no longer take
                  // effect.
                  store.deleteFile(file.source());
                  withdraw(file);
                }));
    new RemoveEmptyDirectories(store, workers).run(plan.missingDirectories(), left);
    return new ArrayList<>(left);
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
    store.deleteFile(file.destination());
  }

  private void withdraw(FileEntry file) throws IOException {
    Optional<StoreEntry> visible = store.status(file.destination());
    if (visible.isPresent() && visible.get().isSameFileAs(file)) {
      store.deleteFile(file.destination());
    }
  }
}
