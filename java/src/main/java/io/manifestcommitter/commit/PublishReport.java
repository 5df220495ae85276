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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
  private final Map<String, Long> sizes = new HashMap<>();
  private final Deque<FileEntry> moved = new ArrayDeque<>();

  PublishReport(Store store, JobDescription job) {
    this.store = store;
    this.job = job;
  }

  /**
   * Does all but the last request: afterwards no report is in the table, and the new one a rename
   * away from it.
   */
  void prepare(JobPlan plan, SuccessReport report) throws IOException {
    write(
        JobPaths.FILE_LIST,
        out -> FileList.write(out, plan.jobId(), plan.table(), plan.files().size(), plan.files()));
    byte[] json = report.toJson();
    write(JobPaths.SUCCESS_MARKER, out -> out.write(json));
    moveAside(JobPaths.SUCCESS_MARKER);
    moveAside(JobPaths.FILE_LIST);
    putInPlace(JobPaths.FILE_LIST);
  }

  /** Makes the report visible: one request. */
  void publish() throws IOException {
    putInPlace(JobPaths.SUCCESS_MARKER);
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
          Attempts.rename(
              store,
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

  private void moveAside(String name) throws IOException {
    Optional<StoreEntry> last = store.status(new Path(job.table(), name));
    if (last.isPresent()) {
      StoreEntry file = last.get();
      move(
          new FileEntry(
              file.path(),
              new Path(job.workDirectory(), "last" + name),
              file.length(),
              file.etag(),
              file.modificationTime()));
    }
  }

  private void putInPlace(String name) throws IOException {
    Path prepared = prepared(name);
    move(new FileEntry(prepared, new Path(job.table(), name), sizes.get(name), null, 0));
  }

  private void move(FileEntry file) throws IOException {
    RenameResult result = Attempts.rename(store, file);
    if (result.isDone() || result.outcome() == RenameResult.Outcome.UNKNOWN) {
      moved.push(file);
    }
    if (!result.isDone()) {
      throw new IOException(
          "Could not put the report in place: " + result.explanation(),
          result.cause().orElse(null));
    }
  }

  private void write(String name, Store.Content content) throws IOException {
    store.write(
        prepared(name),
        out -> {
          CountingOutputStream counted = new CountingOutputStream(out);
          content.writeTo(counted);
          counted.flush();
          sizes.put(name, counted.count());
        });
  }

  private Path prepared(String name) {
    return new Path(job.workDirectory(), name);
  }
}
