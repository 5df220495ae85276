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
import java.util.Queue;
import java.util.UUID;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;
import org.apache.hadoop.fs.Path;

/**
 * Puts {@code _SUCCESS} and the complete list of files at the root of the table. Both are written
 * to the job's own directory first, while the job can still fail, and then renamed, so that neither
 * is ever seen empty or cut short. The last job's report is moved aside and not deleted, so that it
 * can come back.
 *
 * <p>Several jobs may do this to one table at once: the report of the last one stays.
 */
final class PublishReport {
  private static final int REFUSALS = 3;
  private static final int ROUNDS = 50;

  private final Store store;
  private final JobDescription job;
  private final Map<String, Written> written = new HashMap<>();
  private final Deque<String> inPlace = new ArrayDeque<>();
  private final Deque<FileEntry> aside = new ArrayDeque<>();

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
   * Removes this job's report and brings the last job's back, unless another job has put its own
   * there.
   *
   * @return what could not be removed or brought back
   */
  List<String> takeBack() {
    Queue<String> left = new ArrayDeque<>();
    for (String name : inPlace) {
      Path target = target(name);
      Attempts.fewOrNote(target, left, () -> removeOwn(target, written.get(name)));
    }
    // The last one moved aside is the latest.
    for (FileEntry file : aside) {
      Attempts.fewOrNote(file.source(), left, () -> bringBack(file));
    }
    return new ArrayList<>(left);
  }

  private void putInPlace(String name) throws IOException {
    FileEntry file = new FileEntry(prepared(name), target(name), written.get(name).size, null, 0);
    inPlace.push(name);
    RenameResult result = store.renameFile(file);
    int refusals = 0;
    for (int round = 1; !result.isDone(); round++) {
      boolean another = result.outcome() == RenameResult.Outcome.FAILED && moveAside(name);
      refusals += another ? 0 : 1;
      if (result.outcome() == RenameResult.Outcome.UNKNOWN
          || refusals == REFUSALS
          || round == ROUNDS) {
        throw new IOException(
            "Could not put the report in place: " + result.explanation(),
            result.cause().orElse(null));
      }
      result = store.renameFile(file);
    }
  }

  /** Makes way for a report; says whether there was one. */
  private boolean moveAside(String name) throws IOException {
    Optional<StoreEntry> last = store.status(target(name));
    if (!last.isPresent()) {
      return false;
    }
    StoreEntry entry = last.get();
    FileEntry file =
        new FileEntry(
            entry.path(),
            new Path(job.workDirectory(), "last-" + UUID.randomUUID() + name),
            entry.length(),
            entry.etag(),
            entry.modificationTime());
    aside.push(file);
    RenameResult result = Attempts.rename(store, file);
    if (!result.isDone() && store.status(target(name)).isPresent()) {
      throw new IOException(
          "Could not move the last job's report aside: " + result.explanation(),
          result.cause().orElse(null));
    }
    return true;
  }

  private void removeOwn(Path target, Written own) throws IOException {
    Optional<StoreEntry> there = store.status(target);
    if (there.isPresent() && there.get().length() == own.size) {
      CRC32C checksum = new CRC32C();
      checksum.update(store.read(target, Math.toIntExact(own.size)));
      if (checksum.getValue() == own.checksum) {
        store.deleteFile(target);
      }
    }
  }

  private void bringBack(FileEntry moved) throws IOException {
    FileEntry back =
        new FileEntry(
            /* source= */ moved.destination(),
            /* destination= */ moved.source(),
            moved.size(),
            moved.etag(),
            moved.modificationTime());
    if (store.status(back.destination()).isPresent() || !store.status(back.source()).isPresent()) {
      return;
    }
    RenameResult result = Attempts.rename(store, back);
    if (!result.isDone() && !store.status(back.destination()).isPresent()) {
      throw new IOException(result.explanation(), result.cause().orElse(null));
    }
  }

  private void write(String name, Store.Content content) throws IOException {
    store.write(
        prepared(name),
        out -> {
          CRC32C checksum = new CRC32C();
          CountingOutputStream counted = new CountingOutputStream(out);
          CheckedOutputStream checked = new CheckedOutputStream(counted, checksum);
          content.writeTo(checked);
          checked.flush();
          written.put(name, new Written(counted.count(), checksum.getValue()));
        });
  }

  private Path prepared(String name) {
    return new Path(job.workDirectory(), name);
  }

  private Path target(String name) {
    return new Path(job.table(), name);
  }

  /** By what a report of this job is recognised, whatever the store. */
  private static final class Written {
    private final long size;
    private final long checksum;

    Written(long size, long checksum) {
      this.size = size;
      this.checksum = checksum;
    }
  }
}
