package io.manifestcommitter.commit;

import io.manifestcommitter.JobPaths;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
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
public final class TakeBackListed {
  private static final Logger LOG = LoggerFactory.getLogger(TakeBackListed.class);

  /** The list of some twenty million files. */
  private static final int LIST_LIMIT = 512 << 20;

  private final Store store;
  private final Workers workers;
  private final JobPaths paths;

  /** The output of the job below {@code paths}. */
  public TakeBackListed(Store store, Workers workers, JobPaths paths) {
    this.store = store;
    this.workers = workers;
    this.paths = paths;
  }

  /**
   * Deletes every file of the list that is still the one that was published; nothing if the report
   * in the table is not this job's.
   *
   * @throws IOException also if the list is not the job's or cannot be read: then nothing was
   *     deleted
   */
  public void run(LoadManifests manifests) throws IOException {
    workers.step(StatisticNames.JOB_STAGE_ABORT);
    if (!manifests.hasOwnReport()) {
      return;
    }
    LOG.info("Taking back what an earlier attempt of job {} committed", paths.jobId());
    Path file = new Path(paths.destination(), JobPaths.FILE_LIST);
    try (FileList check = open(file)) {
      while (check.next().isPresent()) {
        // To its end, so that a damaged list deletes nothing.
      }
    }
    try (FileList list = open(file)) {
      workers.forEach(each(list), Math.toIntExact(list.count()), this::remove);
    }
  }

  private FileList open(Path file) throws IOException {
    String next =
        "An earlier attempt of job "
            + paths.jobId()
            + " committed its output, and it cannot be told which files those are: delete its"
            + " output from "
            + paths.destination()
            + " and run the job again";
    FileList list;
    try {
      list = FileList.read(new ByteArrayInputStream(store.read(file, LIST_LIMIT)), file.toString());
    } catch (FileNotFoundException e) {
      throw new IOException(next, e);
    }
    if (!list.jobId().equals(paths.jobId())) {
      list.close();
      throw new IOException(next + ": " + file + " is of job " + list.jobId());
    }
    return list;
  }

  private void remove(FileList.Entry published) throws IOException {
    Attempts.few(
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
        && (published.etag().isEmpty() || visible.etag().equals(published.etag()));
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
