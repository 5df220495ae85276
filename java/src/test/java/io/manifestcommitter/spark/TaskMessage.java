// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.spark.StagedFile.Form;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;

/**
 * What the attempt of a task tells the driver: what {@link ManifestCommitProtocol#commitTask}
 * sends, for tests in which no Spark runs.
 */
public final class TaskMessage {
  /** The location of files that go into the table. */
  public static final String TABLE = StagedFile.TABLE;

  private final String jobId;
  private final int task;
  private final SortedSet<StagedFile> files = new TreeSet<>();

  /** Of an attempt without files. */
  public TaskMessage(String jobId, int task) {
    this.jobId = jobId;
    this.task = task;
  }

  /**
   * Names files.
   *
   * @param location {@link #TABLE}, or the path of a custom location
   * @param relative to there: "p=1/part-0"
   */
  public TaskMessage add(String location, String... relative) {
    for (String file : relative) {
      files.add(file(location, file));
    }
    return this;
  }

  /**
   * Names a file that was uploaded.
   *
   * @param file relative to the location
   * @param length in bytes
   * @param etag with the upload in it
   */
  public TaskMessage addUploaded(String location, String file, long length, String etag) {
    files.add(file(location, file).as(Form.TO_COMPLETE, length, etag));
    return this;
  }

  /**
   * Names a file that was linked to the job's branch.
   *
   * @param file relative to the table
   * @param length in bytes
   */
  public TaskMessage addLinked(String file, long length, String checksum) {
    files.add(file(TABLE, file).as(Form.TO_MERGE, length, checksum));
    return this;
  }

  private static StagedFile file(String location, String file) {
    int slash = file.lastIndexOf('/');
    return new StagedFile(
        location, file.substring(0, Math.max(0, slash)), file.substring(slash + 1));
  }

  /** As it is sent. */
  public byte[] bytes() {
    return TaskOutput.message(jobId, task, files);
  }

  /** What a task that uploaded its files tells the driver. */
  static final class UploadedTask {
    private final Store store;
    private final TaskMessage output;
    private final List<FileEntry> done = new ArrayList<>();

    UploadedTask(Store store, String jobId, int task) {
      this.store = store;
      this.output = new TaskMessage(jobId, task);
    }

    /**
     * Uploads a file.
     *
     * @param location {@link TaskMessage#TABLE}, or a custom one
     * @param target its path
     * @param file relative to it
     */
    UploadedTask add(String location, Path target, String file, String content) throws IOException {
      File local = File.createTempFile("task", ".output");
      try {
        Files.writeString(local.toPath(), content);
        StoreEntry uploaded =
            store.newUpload(local, new Path(target, new Path(null, null, file))).finish();
        output.addUploaded(location, file, uploaded.length(), uploaded.etag());
        Path place = uploaded.path();
        done.add(FileEntry.uploaded(place.getParent(), place.getName(), uploaded.identity()));
      } catch (IOException e) {
        // As an attempt that aborts.
        for (FileEntry upload : done) {
          store.abortUpload(upload);
        }
        throw e;
      } finally {
        Files.delete(local.toPath());
      }
      return this;
    }

    byte[] bytes() {
      return output.bytes();
    }
  }
}
