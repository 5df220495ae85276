package io.manifestcommitter.commit;

import io.manifestcommitter.JobPaths;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * Puts {@code _SUCCESS} and the complete list of files at the root of the table. Both are written
 * to the job's own directory first, while the job can still fail, and then renamed, so that neither
 * is ever seen empty or cut short. The last job's report is moved aside and not deleted, so that it
 * can come back.
 */
final class PublishReport {
  private final Store store;
  private final JobDescription job;
  private final Deque<FileEntry> moved = new ArrayDeque<>();

  PublishReport(Store store, JobDescription job) {
    this.store = store;
    this.job = job;
  }

  /** Writes the list of files, which is the long part, to the job's own directory. */
  void prepareFileList(JobPlan plan) throws IOException {
    store.write(
        prepared(JobPaths.FILE_LIST),
        out -> FileList.write(out, plan.jobId(), plan.table(), plan.files().size(), plan.files()));
  }

  /** Writes the report and puts both in place, the report last. */
  void publish(SuccessReport report) throws IOException {
    store.write(prepared(JobPaths.SUCCESS_MARKER), out -> out.write(report.toJson()));
    replace(JobPaths.FILE_LIST);
    replace(JobPaths.SUCCESS_MARKER);
  }

  /**
   * Brings the last job's report back.
   *
   * @return what could not be brought back
   */
  List<String> takeBack() {
    List<String> left = new ArrayList<>();
    while (!moved.isEmpty()) {
      FileEntry done = moved.pop();
      RenameResult result =
          store.renameFile(
              new FileEntry(
                  /* source= */ done.destination(),
                  /* destination= */ done.source(),
                  done.size(),
                  done.etag(),
                  done.modificationTime()));
      if (!result.isDone()) {
        left.add(done.destination() + " (" + result.explanation() + ")");
      }
    }
    return left;
  }

  private void replace(String name) throws IOException {
    Path target = new Path(job.table(), name);
    Optional<StoreEntry> last = store.status(target);
    if (last.isPresent()) {
      move(last.get(), new Path(job.workDirectory(), "last" + name));
    }
    Path prepared = prepared(name);
    move(
        store
            .status(prepared)
            .orElseThrow(
                () ->
                    new IOException(
                        "The job's directory "
                            + job.workDirectory()
                            + " was deleted by somebody else")),
        target);
  }

  private void move(StoreEntry from, Path to) throws IOException {
    FileEntry file =
        new FileEntry(from.path(), to, from.length(), from.etag(), from.modificationTime());
    RenameResult result = store.renameFile(file);
    if (result.isDone() || result.outcome() == RenameResult.Outcome.UNKNOWN) {
      moved.push(file);
    }
    if (!result.isDone()) {
      throw new IOException(
          "Could not put the report in place: " + result.explanation(),
          result.cause().orElse(null));
    }
  }

  private Path prepared(String name) {
    return new Path(job.workDirectory(), name);
  }
}
