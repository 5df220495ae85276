// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntries;
import io.manifestcommitter.manifest.FileEntry;
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
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the output of a job that was committed and cleaned up, and is to run again all the same:
 * MapReduce did not learn of the commit. What the job published is known from the complete list
 * beside its report.
 */
final class RollBackEarlierAttempt {
  private static final Logger LOG = LoggerFactory.getLogger(RollBackEarlierAttempt.class);

  /** The list of some twenty million files. */
  private static final int LIST_LIMIT = 512 << 20;

  /** What the list may take of the heap while it is read. */
  private static final int HEAP_SHARE = 4;

  /** Bytes of the files to delete that stay in memory. */
  private static final int IN_MEMORY = 4 << 20;

  private final Store store;
  private final Workers workers;
  private final JobPaths paths;
  private final Path list;

  /** The output of the job below {@code paths}. */
  RollBackEarlierAttempt(Store store, Workers workers, JobPaths paths) {
    this.store = store;
    this.workers = workers;
    this.paths = paths;
    this.list = new Path(paths.destination(), JobPaths.FILE_LIST);
  }

  /**
   * Deletes every file of the list that is still the one that was published; nothing if the report
   * in the table is not this job's.
   *
   * @throws IOException also if the list is not the job's, cannot be read, or names what is not in
   *     its output: then nothing was deleted
   */
  void run(LoadManifests manifests) throws IOException {
    workers.step(StatisticNames.JOB_STAGE_ABORT);
    if (!manifests.hasOwnReport()) {
      return;
    }
    LOG.info("Rolling back what an earlier attempt of job {} committed", paths.jobId());
    try (FileEntries files = published()) {
      workers.forEach(
          files.iterator(), files.count(), file -> Retries.few(() -> deleteIfSame(file)));
    }
  }

  private void deleteIfSame(FileEntry published) throws IOException {
    Optional<StoreEntry> visible = store.status(published.destination());
    if (visible.isPresent() && visible.get().isSameFileAs(published)) {
      store.deleteFile(published.destination());
    }
  }

  /** Reads the list to its end, so that a damaged one deletes nothing. */
  private FileEntries published() throws IOException {
    int limit = (int) Math.min(LIST_LIMIT, Runtime.getRuntime().maxMemory() / HEAP_SHARE);
    try (FileList files =
            FileList.read(new ByteArrayInputStream(store.read(list, limit)), list.toString());
        FileEntries.Builder found = FileEntries.builder(IN_MEMORY)) {
      if (!files.jobId().equals(paths.jobId())) {
        throw new IOException(whatToDo() + ": " + list + " is of job " + files.jobId());
      }
      for (Optional<FileList.Entry> next = files.next(); next.isPresent(); next = files.next()) {
        FileList.Entry file = next.get();
        requireOutput(file.location());
        found.add(new FileEntry(file.location(), file.location(), file.size(), file.etag(), 0));
      }
      return found.build();
    } catch (FileNotFoundException e) {
      throw new IOException(whatToDo(), e);
    } catch (FileTooLongException e) {
      throw new IOException(whatToDo() + ": " + e.getMessage(), e);
    }
  }

  /** A job of this protocol publishes below its destination, and to no staging directory there. */
  private void requireOutput(Path published) throws IOException {
    if (!StorePaths.isBelow(paths.destination(), published)
        || StagingRoot.leadsIntoStaging(StorePaths.relative(paths.destination(), published))) {
      throw new IOException(
          whatToDo() + ": " + list + " names " + published + ", which is not of its output");
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
}
