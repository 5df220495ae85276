// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Store.FileTooLongException;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StoreTraits;
import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts {@code _SUCCESS} and the complete list of files at the root of the table. Both are written
 * to the job's own directory first, while the job can still fail, and then renamed, so that neither
 * is ever seen empty or cut short. The last job's report is moved aside and not deleted, so that it
 * can come back.
 *
 * <p>Several jobs may do this to one table at once: the report of the last one stays. All that
 * rolling it back needs is in the store, so another committer can do it.
 */
final class PublishReport {
  private static final Logger LOG = LoggerFactory.getLogger(PublishReport.class);

  /** Enough to see whose list of files it is. */
  private static final int LIST_START = 64 << 10;

  /** Of a list of some ten million files. */
  private static final int MOST_BYTES = 1 << 30;

  private static final int REFUSALS = 3;
  private static final int ROUNDS = 50;
  private static final List<String> NAMES = List.of(JobPaths.SUCCESS_MARKER, JobPaths.FILE_LIST);
  private static final String LAST = "last-";

  private final Store store;
  private final JobDescription job;
  private final Map<String, Long> sizes = new ConcurrentHashMap<>();
  private final Map<String, StoreEntry> last = new ConcurrentHashMap<>();
  private final AtomicInteger asides = new AtomicInteger();
  private boolean hasListLeft;

  PublishReport(Store store, JobDescription job) {
    this.store = store;
    this.job = job;
  }

  /** Looks for the report of the last job, which {@link #moveLastAside} moves. Two requests. */
  void findLast(Workers workers) throws IOException {
    workers.forEach(
        NAMES, name -> store.status(target(name)).ifPresent(entry -> last.put(name, entry)));
  }

  /** Makes room for the new report. One request for each file of the last one that was found. */
  void moveLastAside(Workers workers) throws IOException {
    boolean compares = store.traits(job.table).replacesOnlyWhatWasSeen();
    workers.forEach(
        last.entrySet(),
        entry -> {
          if (compares) {
            takeAside(entry.getKey(), entry.getValue());
          } else {
            moveAside(entry.getKey(), Optional.of(entry.getValue()));
          }
        });
  }

  /** The files that {@link #writeList} and {@link #write} write to the job's own directory. */
  List<Path> files() {
    return List.of(prepared(JobPaths.FILE_LIST), prepared(JobPaths.SUCCESS_MARKER));
  }

  /**
   * Writes the list of files to the job's own directory.
   *
   * @param files the published files, as {@code plan} has them
   */
  void writeList(JobPlan plan, Iterable<FileEntry> files) throws IOException {
    write(
        JobPaths.FILE_LIST,
        out -> FileList.write(out, plan.jobId, plan.table, plan.files.size(), files));
  }

  /** Puts the list of files in place. */
  void publishList() throws IOException {
    putInPlace(JobPaths.FILE_LIST, () -> {});
  }

  /**
   * Writes the report to the job's own directory: afterwards it is a rename away from the table.
   *
   * @return whether the directory was still there then; else this may have made it again
   */
  boolean write(SuccessReport report) throws IOException {
    byte[] json = report.toJson();
    if (store.fill(prepared(JobPaths.SUCCESS_MARKER), out -> out.write(json))) {
      sizes.put(JobPaths.SUCCESS_MARKER, (long) json.length);
      return true;
    }
    write(JobPaths.SUCCESS_MARKER, out -> out.write(json));
    return false;
  }

  /**
   * Makes the report visible: one request, unless another job's is in its way. Where that job has
   * taken the place of this job's list, too, the list goes there once more: the last report and the
   * list beside it are of one job.
   */
  void publish(JobPlan plan) throws IOException {
    putInPlace(
        JobPaths.SUCCESS_MARKER,
        () -> {
          // Where the prepared report is gone, another process recovered this job: nothing of it
          // goes into the table any more.
          if (store.status(prepared(JobPaths.SUCCESS_MARKER)).isPresent()
              && !isOwn(JobPaths.FILE_LIST)) {
            writeList(plan, plan.files);
            publishList();
          }
        });
  }

  /** As {@link #publish}, where another process prepared it; nothing if it did not, or did both. */
  void publishPrepared(JobPlan plan) throws IOException {
    Optional<StoreEntry> report = store.status(prepared(JobPaths.SUCCESS_MARKER));
    if (report.isPresent()) {
      sizes.put(JobPaths.SUCCESS_MARKER, report.get().length());
      try {
        publish(plan);
      } catch (FileNotFoundException e) {
        // Only another recovery, which published the report and ended the journal, takes it away.
        LOG.debug("{} was published by somebody else", report.get().path(), e);
      }
    }
  }

  /** Whether this job's report is visible. */
  boolean isPublished() throws IOException {
    return isOwn(JobPaths.SUCCESS_MARKER);
  }

  /**
   * Whether this job's report has left for the table, whatever became of it there. Only for a job
   * whose list of files was written before anything was visible, and leaves before the report does.
   * Two requests at most, and one more where what leaves stays prepared, too.
   */
  boolean hasLeft() throws IOException {
    if (store.traits(job.table).completesUploads()) {
      return isPublished();
    }
    for (String name : List.of(JobPaths.FILE_LIST, JobPaths.SUCCESS_MARKER)) {
      if (Retries.fewFor(() -> store.status(prepared(name))).isPresent()) {
        return false;
      }
      hasListLeft = true;
    }
    return true;
  }

  /**
   * Removes what was prepared: a driver that lives after all does not publish it any more. The list
   * goes first, which leaves before the report, unless {@link #hasLeft} has seen that it left: to
   * delete what is not there costs a look. The report of an overwrite leaves past its point of no
   * return, which nobody passes any more. Two requests, or one.
   */
  void discardPrepared(boolean isOverwrite) throws IOException {
    if (!hasListLeft) {
      Retries.few(() -> store.deleteFile(prepared(JobPaths.FILE_LIST)));
    }
    if (!isOverwrite) {
      Retries.few(() -> store.deleteFile(prepared(JobPaths.SUCCESS_MARKER)));
    }
  }

  /**
   * Removes this job's report.
   *
   * @param left takes what could not be removed
   */
  void rollBack(Queue<String> left) {
    for (String name : NAMES) {
      Retries.fewOrNote(
          target(name),
          left,
          () -> {
            // A report that another job replaces while it is read fails the read: abfs answers 412.
            if (isOwn(name)) {
              store.deleteFile(target(name));
            }
          });
    }
  }

  /**
   * Moves the last job's report to its place, unless another job has put its own there.
   *
   * @param isOwnLast whether this job's own report was that of the last job, too, when it moved
   * @param left takes what could not be moved
   */
  void rollBackLast(boolean isOwnLast, Queue<String> left) {
    List<StoreEntry> moved = new ArrayList<>();
    Retries.fewOrNote(job.workDirectory, left, () -> listMoved(moved));
    for (StoreEntry entry : moved) {
      Retries.fewOrNote(entry.path(), left, () -> rollBack(entry, isOwnLast));
    }
  }

  /**
   * Renames what was prepared to its place in the table.
   *
   * @param beforeAnotherTry what is done each time after something else has given way
   */
  private void putInPlace(String name, InvocationRaisingIOE beforeAnotherTry) throws IOException {
    StoreTraits traits = store.traits(job.table);
    if (traits.completesUploads()) {
      // Whole at its place by one request, and what was prepared stays for another try.
      byte[] content = Retries.fewFor(() -> store.read(prepared(name), MOST_BYTES));
      if (traits.replacesOnlyWhatWasSeen()) {
        replaceWhatIsSeen(name, content, beforeAnotherTry);
      } else {
        Retries.few(() -> store.write(target(name), out -> out.write(content)));
      }
      return;
    }
    FileEntry file = new FileEntry(prepared(name), target(name), sizes.get(name), null, 0);
    RenameResult result = store.renameFile(file);
    int refusals = 0;
    for (int round = 1; !result.isDone(); round++) {
      boolean undone =
          result.outcome() == RenameResult.Outcome.FAILED || result.inTheWay().isPresent();
      // A process that lost the commit finds nothing prepared, and leaves alone what is there.
      boolean another =
          undone
              && store.status(file.source()).isPresent()
              && moveAside(name, store.status(target(name)));
      refusals += another ? 0 : 1;
      if (!undone || refusals == REFUSALS || round == ROUNDS) {
        throw result.failure("Could not put the report in place");
      }
      beforeAnotherTry.apply();
      result = store.renameFile(file);
    }
  }

  /**
   * Puts content where nothing is. What another job has put there since is copied aside, and
   * replaced only if it is still the same. Each report that is replaced was seen before the list
   * was put beside it. So the job whose report is the last one put its list last, too.
   *
   * <p>A store that refuses, or does not answer, may have done it: then this job's own is there.
   */
  private void replaceWhatIsSeen(String name, byte[] content, InvocationRaisingIOE beforeAnotherTry)
      throws IOException {
    Optional<StoreEntry> seen = Optional.empty();
    int refusals = 0;
    for (int round = 1; ; round++) {
      try {
        store.replace(target(name), seen, content);
        return;
      } catch (IOException e) {
        Optional<StoreEntry> now = Retries.fewFor(() -> store.status(target(name)));
        if (now.isPresent() && isOwn(name)) {
          return;
        }
        boolean isChanged = !now.map(StoreEntry::etag).equals(seen.map(StoreEntry::etag));
        refusals += isChanged ? 0 : 1;
        requirePrepared(name);
        if (refusals == REFUSALS || round == ROUNDS) {
          throw new IOException(
              "Could not put the report in place at "
                  + target(name)
                  + ". If the server does not know conditional writes, set"
                  + " fs.s3a.create.conditional.enabled to false",
              e);
        }
        if (isChanged) {
          copyAside(name);
          beforeAnotherTry.apply();
        }
        seen = now;
      }
    }
  }

  /**
   * As {@link #moveAside}, where nothing is renamed. Before the deletion it looks again: another
   * job's report may have come there, or a recovery may have restored the last one. What comes
   * after that look is deleted, too, since S3A deletes without a condition.
   */
  private void takeAside(String name, StoreEntry found) throws IOException {
    Optional<StoreEntry> there = Optional.of(found);
    for (int round = 1; there.isPresent() && round <= ROUNDS; round++) {
      StoreEntry entry = there.get();
      requireFile(entry);
      Path aside = copyAside(name);
      there = Retries.fewFor(() -> store.status(target(name)));
      if (there.filter(entry::isSameFileAs).isPresent()) {
        try {
          requirePrepared(JobPaths.FILE_LIST);
        } catch (FileNotFoundException e) {
          store.deleteFile(aside);
          throw e;
        }
        Retries.few(() -> store.deleteFile(target(name)));
        return;
      }
    }
  }

  private Path copyAside(String name) throws IOException {
    Path aside = new Path(job.workDirectory, nextAside() + name);
    try {
      byte[] content = Retries.fewFor(() -> store.read(target(name), MOST_BYTES));
      Retries.few(() -> store.write(aside, out -> out.write(content)));
    } catch (FileNotFoundException e) {
      // What goes on from here sees that it is gone.
      LOG.debug("{} was not copied", target(name), e);
    }
    return aside;
  }

  /**
   * Moves the report in the table aside, also one of an earlier try of this job; says whether there
   * was one. Other jobs may move it first and put theirs there, again and again. Never deletes:
   * where another process recovered this job and took its directory away, nothing gives way any
   * more.
   */
  private boolean moveAside(String name, Optional<StoreEntry> found) throws IOException {
    int refusals = 0;
    Optional<StoreEntry> there = found;
    for (int round = 1; there.isPresent(); round++) {
      StoreEntry entry = there.get();
      requireFile(entry);
      RenameResult result =
          Retries.renameToStaging(store, entry, new Path(job.workDirectory, nextAside() + name));
      if (result.isDone()) {
        return true;
      }
      there = store.status(target(name));
      refusals += there.filter(now -> now.isSameFileAs(entry)).isPresent() ? 1 : 0;
      if (there.isPresent() && (refusals == REFUSALS || round == ROUNDS)) {
        throw result.failure(
            "The last job's report could not be moved aside: "
                + JobDescription.REPORT_IN_THE_WAY
                + " ("
                + target(name)
                + ")");
      }
    }
    return found.isPresent();
  }

  private static void requireFile(StoreEntry entry) throws IOException {
    if (entry.isDirectory()) {
      throw new IOException(
          entry.path()
              + " is a directory, where the job's report goes. It was not touched: move it away"
              + " and run the job again");
    }
  }

  /** Sorts by time, also among the tries of one job; only its committers write here. */
  private String nextAside() {
    return String.format(
        Locale.ROOT, "%s%013d-%03d", LAST, System.currentTimeMillis(), asides.getAndIncrement());
  }

  private boolean isOwn(String name) throws IOException {
    return Retries.fewFor(() -> isOwn(target(name), name));
  }

  private boolean isOwn(Path file, String name) throws IOException {
    try {
      if (name.equals(JobPaths.SUCCESS_MARKER)) {
        byte[] report = store.read(file, SuccessReport.MAX_BYTES);
        return SuccessReport.parse(report, file.toString()).jobId().equals(job.jobId);
      }
      byte[] start = store.readStart(file, LIST_START);
      try (FileList list = FileList.read(new ByteArrayInputStream(start), file.toString())) {
        return list.jobId.equals(job.jobId);
      }
    } catch (FileNotFoundException | CorruptManifestException | FileTooLongException e) {
      // Nothing of this job's: what it puts in place is complete.
      LOG.debug("{} is not of job {}", file, job.jobId, e);
      return false;
    }
  }

  /** Finds what was moved aside, the latest first. */
  private void listMoved(List<StoreEntry> moved) throws IOException {
    moved.clear();
    store.listIfThere(
        job.workDirectory,
        entry -> {
          if (entry.name().startsWith(LAST) && !entry.isDirectory()) {
            moved.add(entry);
          }
        });
    moved.sort(Comparator.comparing(StoreEntry::name).reversed());
  }

  private void rollBack(StoreEntry moved, boolean isOwnLast) throws IOException {
    String name =
        moved.name().endsWith(JobPaths.FILE_LIST) ? JobPaths.FILE_LIST : JobPaths.SUCCESS_MARKER;
    boolean compares = store.traits(job.table).replacesOnlyWhatWasSeen();
    Optional<StoreEntry> there = store.status(target(name));
    // Removed before: a driver that lives after all has put it there since.
    boolean isOwnAgain = there.isPresent() && compares && !isOwnLast && isOwn(name);
    if ((there.isPresent() && !isOwnAgain) || !store.status(moved.path()).isPresent()) {
      return;
    }
    if (!isOwnLast && isOwn(moved.path(), name)) {
      // Of an earlier try, which was cut short after it had put its own in place.
      return;
    }
    if (compares) {
      // What that driver does from here on, under the condition that nothing is there, is refused.
      store.replace(target(name), there, store.read(moved.path(), MOST_BYTES));
      store.deleteFile(moved.path());
      return;
    }
    RenameResult result = Retries.rename(store, moved.movedTo(target(name)));
    if (!result.isDone() && !store.status(target(name)).isPresent()) {
      throw result.failure("the last job's " + name + " is still at " + moved.path());
    }
  }

  /** A process that lost the commit finds nothing prepared, and leaves alone what is there. */
  private void requirePrepared(String name) throws IOException {
    if (!Retries.fewFor(() -> store.status(prepared(name))).isPresent()) {
      throw new FileNotFoundException(prepared(name) + " is gone: another process has the commit");
    }
  }

  private void write(String name, ConsumerRaisingIOE<OutputStream> content) throws IOException {
    sizes.put(name, Store.writeNew(store, prepared(name), target(name), content).size());
  }

  private Path prepared(String name) {
    return new Path(job.workDirectory, name);
  }

  private Path target(String name) {
    return new Path(job.table, name);
  }
}
