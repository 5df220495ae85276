// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * Publishes the files of a plan that do not come with a whole directory: the step that makes a job
 * visible. All in parallel.
 */
final class PublishFiles {
  private final CommitWork work;
  private final JobPlan plan;
  private final Store store;

  PublishFiles(CommitWork work, JobPlan plan) {
    this.work = work;
    this.plan = plan;
    this.store = work.store;
  }

  /**
   * Makes the directories that the files need and that are missing, each with its parents in one
   * request. Files that the plan found in their way give way first.
   */
  void makeDirectories() throws IOException {
    work.workers.forEach(
        plan.filesInTheWay,
        file -> {
          Optional<StoreEntry> found = store.status(file);
          if (found.isPresent() && !found.get().isDirectory()) {
            work.replaced.moveAside(found.get());
          }
        });
    List<Path> directories = new ArrayList<>(plan.directoriesToMake(work.published.failedSwaps));
    directories.removeIf(directory -> store.traits(directory).completesUploads());
    work.workers.forEach(directories, store::mkdirs);
  }

  /**
   * Renames every file to its destination.
   *
   * @throws IOException if one was proven not to be done, or nothing could be proven; it says which
   */
  void rename() throws IOException {
    work.workers.forEachNumbered(
        plan.files,
        (number, file) -> {
          if (work.published.isBrought(plan, file.destinationDirectory())
              || work.published.isDone(number)) {
            return;
          }
          work.published.begin(number);
          RenameResult result =
              work.statistics.time(StatisticNames.OP_COMMIT_FILE_RENAME, () -> rename(file));
          requireDone(file, result);
          work.published.done(number);
        });
  }

  /**
   * Where the settings say so, a file of an earlier job at the destination gives way. It is moved
   * aside while the new one is proven to be at its source, so a repeated commit, whose own output
   * stands there, moves nothing. A rename is tried first: most destinations are free.
   */
  private RenameResult rename(FileEntry file) throws IOException {
    RenameResult result = Retries.rename(store, file);
    if (plan.isHeld() && result.outcome() == RenameResult.Outcome.FAILED && !file.isUpload()) {
      // An overwrite may have removed, since the job was held, the directory that it adds to.
      store.mkdirs(file.destinationDirectory());
      result = Retries.rename(store, file);
    }
    if (work.config.deleteTargetFiles && !result.isDone() && result.inTheWay().isPresent()) {
      work.replaced.moveAside(result.inTheWay().get());
      work.statistics.increment(StatisticNames.OP_DELETE_FILE_UNDER_DESTINATION);
      result = Retries.rename(store, file);
    }
    return result;
  }

  private void requireDone(FileEntry file, RenameResult result) throws IOException {
    if (result.outcome() == RenameResult.Outcome.RECOVERED) {
      work.statistics.increment(StatisticNames.OP_COMMIT_FILE_RENAME_RECOVERED);
      work.published.hasRecovered = true;
    } else if (result.outcome() == RenameResult.Outcome.UNKNOWN) {
      // The file may be at either end; what was to be completed may be at its place, or wait.
      throw result.failure(
          "It is not known whether "
              + (file.isUpload()
                  ? "the upload of " + file.destination() + " was completed. Check that path"
                  : file.source() + " was renamed to " + file.destination() + ". Check both paths")
              + ": a file of "
              + file.size()
              + (file.isUpload()
                  ? " bytes there was published"
                  : " bytes at the destination was published, one at the source was not"));
    } else if (!result.isDone()) {
      throw result.failure(
          "Could not publish "
              + file.destination()
              + ". Run the job again; if it fails in the same way, look at what stands at the"
              + " destination and at the rights there");
    }
  }

  /**
   * Looks at every published file again, one request each, and compares length and, where the store
   * has them, etag or modification time.
   *
   * @throws IOException for the first file that is missing or another one
   */
  void validate() throws IOException {
    work.workers.forEach(
        plan.files,
        file -> {
          Optional<StoreEntry> published = store.status(file.destination());
          if (!published.filter(entry -> entry.isSameFileAs(file)).isPresent()) {
            throw new IOException(
                "The published file "
                    + file.destination()
                    + " should have "
                    + file.size()
                    + " bytes"
                    + (file.etag().isEmpty() ? "" : " and etag " + file.etag())
                    + ", but "
                    + published.map(entry -> "there is " + entry).orElse("nothing is there")
                    + ". Something else writes to the table, or the store lost a rename: run the"
                    + " job again.");
          }
        });
  }
}
