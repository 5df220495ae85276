// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import java.util.SortedSet;
import java.util.TreeSet;

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
    files.add(file(location, file).uploaded(length, etag));
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
}
