// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.store.FileTooLongException;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the output of a job that was committed and cleaned up, and is to run again all the same:
 * MapReduce did not learn of the commit. What the job published is known from the complete list
 * beside its report.
 */
public final class RollBackEarlierAttempt {
  private static final Logger LOG = LoggerFactory.getLogger(RollBackEarlierAttempt.class);

  /** The list of some twenty million files. */
  private static final int LIST_LIMIT = 512 << 20;

  /** What the list may take of the heap, twice while it is read. */
  private static final int HEAP_SHARE = 4;

  private final Store store;
  private final Workers workers;
  private final JobPaths paths;

  /** The output of the job below {@code paths}. */
  public RollBackEarlierAttempt(Store store, Workers workers, JobPaths paths) {
    this.store = store;
    this.workers = workers;
    this.paths = paths;
  }

  /**
   * Deletes every file of the list that is still the one that was published; nothing if the report
   * in the table is not this job's.
   *
   * @throws IOException also if the list is not the job's, cannot be read, or names what is not in
   *     its output: then nothing was deleted
   */
  public void run(LoadManifests manifests) throws IOException {
    workers.step(StatisticNames.JOB_STAGE_ABORT);
    if (!manifests.hasOwnReport()) {
      return;
    }
    LOG.info("Rolling back what an earlier attempt of job {} committed", paths.jobId());
    Path file = new Path(paths.destination(), JobPaths.FILE_LIST);
    try (FileList check = open(file)) {
      // To its end, so that a damaged list deletes nothing.
      for (Optional<FileList.Entry> e = check.next(); e.isPresent(); e = check.next()) {
        requireOutput(e.get(), file);
      }
    }
    try (FileList list = open(file)) {
      workers.forEach(each(list), Math.toIntExact(list.count()), this::remove);
    }
  }

  /** A job of this protocol publishes below its destination, and to no staging directory there. */
  private void requireOutput(FileList.Entry published, Path file) throws IOException {
    Path location = published.location();
    if (!StorePaths.isBelow(paths.destination(), location)
        || StagingRoot.leadsIntoStaging(StorePaths.relative(paths.destination(), location))) {
      throw new IOException(
          whatToDo() + ": " + file + " names " + location + ", which is not of its output");
    }
  }

  private String whatToDo() {
    return "An earlier attempt of job "
        + paths.jobId()
        + " committed its output, and it is not known which files those are: delete its output"
        + " from "
        + paths.destination()
        + " and run the job again";
  }

  private FileList open(Path file) throws IOException {
    int limit = (int) Math.min(LIST_LIMIT, Runtime.getRuntime().maxMemory() / HEAP_SHARE);
    FileList list;
    try {
      list = FileList.read(new ByteArrayInputStream(store.read(file, limit)), file.toString());
    } catch (FileNotFoundException e) {
      throw new IOException(whatToDo(), e);
    } catch (FileTooLongException e) {
      throw new IOException(whatToDo() + ": " + e.getMessage(), e);
    }
    if (!list.jobId().equals(paths.jobId())) {
      list.close();
      throw new IOException(whatToDo() + ": " + file + " is of job " + list.jobId());
    }
    return list;
  }

  private void remove(FileList.Entry published) throws IOException {
    Retries.few(
        () -> {
          Optional<StoreEntry> visible = store.status(published.location());
          if (visible.isPresent() && isSame(visible.get(), published)) {
            store.deleteFile(published.location());
          }
        });
  }

  private static boolean isSame(StoreEntry visible, FileList.Entry published) {
    return !visible.isDirectory()
        && visible.length() == published.size()
        && (published.etag().isEmpty() || FileIdentity.isKept(visible.etag(), published.etag()));
  }

  private static Iterator<FileList.Entry> each(FileList list) {
    return new Iterator<FileList.Entry>() {
      private long given;

      @Override
      public boolean hasNext() {
        return given < list.count();
      }

      @Override
      public FileList.Entry next() {
        given++;
        try {
          return list.next().orElseThrow(NoSuchElementException::new);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };
  }
}
