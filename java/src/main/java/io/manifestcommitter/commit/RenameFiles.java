// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.Upload;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import java.io.IOException;

/**
 * Renames every file of a plan to its destination, in parallel. The step that makes a job visible.
 */
final class RenameFiles {
  private final Store store;
  private final Workers workers;
  private final StatisticsRecorder statistics;
  private final Published published;
  private final Swapped swapped;
  private final ReplacedFiles replaced;

  /**
   * A step.
   *
   * @param published learns of each rename before it is asked for, and of its outcome
   * @param swapped the directories that are published as a whole: their files are left alone
   * @param replaced files of earlier jobs that gave way
   */
  RenameFiles(
      Store store,
      Workers workers,
      StatisticsRecorder statistics,
      Published published,
      Swapped swapped,
      ReplacedFiles replaced) {
    this.store = store;
    this.workers = workers;
    this.statistics = statistics;
    this.published = published;
    this.swapped = swapped;
    this.replaced = replaced;
  }

  /**
   * Renames them.
   *
   * @param isReplacing whether a file of an earlier job at a destination gives way: it is moved
   *     aside while the new one is proven to be at its source. So a repeated commit, whose own
   *     output stands there, moves nothing. A rename is tried first: most destinations are free
   * @throws IOException if one was proven not to be done, or nothing could be proven; it says which
   */
  void run(JobPlan plan, boolean isReplacing) throws IOException {
    workers.forEachNumbered(
        plan.files(),
        plan.files().count(),
        (number, file) -> {
          int swap = plan.swaps().bringing(file.destinationDirectory());
          boolean isPublished = swap >= 0 && swapped.isPublished(swap);
          if (isPublished || published.isDone(number)) {
            return;
          }
          published.begin(number);
          RenameResult result =
              statistics.time(
                  StatisticNames.OP_COMMIT_FILE_RENAME, () -> rename(file, isReplacing));
          requireDone(file, result);
          published.done(number);
        });
  }

  private RenameResult rename(FileEntry file, boolean isReplacing) throws IOException {
    RenameResult result = Retries.rename(store, file);
    if (isReplacing && !result.isDone() && result.inTheWay().isPresent()) {
      replaced.moveAside(result.inTheWay().get());
      statistics.increment(StatisticNames.OP_DELETE_FILE_UNDER_DESTINATION);
      result = Retries.rename(store, file);
    }
    return result;
  }

  private void requireDone(FileEntry file, RenameResult result) throws IOException {
    switch (result.outcome()) {
      case RECOVERED:
        statistics.increment(StatisticNames.OP_COMMIT_FILE_RENAME_RECOVERED);
        published.recovered();
        break;
      case RENAMED:
        break;
      case FAILED:
        throw failed(file, result);
      case UNKNOWN:
        throw unknown(file, result);
    }
  }

  private static IOException failed(FileEntry file, RenameResult result) {
    return new IOException(
        "Could not publish "
            + file.destination()
            + ": "
            + result.explanation()
            + ". Run the job again; if it fails in the same way, look at what stands at the destination"
            + " and at the rights there.",
        result.cause().orElse(null));
  }

  /** The file may be at either end; what was to be completed may be at its place, or wait. */
  private static IOException unknown(FileEntry file, RenameResult result) {
    return new IOException(
        Upload.in(file.etag()).isPresent()
            ? unknown("the upload of " + file.destination() + " was completed", result)
                + ("that path: a file of " + file.size() + " bytes there was published.")
            : unknown(file.source() + " was renamed to " + file.destination(), result)
                + ("both paths: a file of " + file.size() + " bytes at the destination was")
                + " published, one at the source was not.",
        result.cause().orElse(null));
  }

  private static String unknown(String what, RenameResult result) {
    return "It is not known whether " + what + ": " + result.explanation() + ". Check ";
  }
}
