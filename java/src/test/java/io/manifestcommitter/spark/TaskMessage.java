// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

/**
 * What the attempt of a task tells the driver: what {@link ManifestCommitProtocol#commitTask}
 * sends, for tests in which no Spark runs.
 */
public final class TaskMessage {
  /** The location of files that go into the table. */
  public static final String TABLE = TaskOutput.TABLE;

  private final TaskOutput.Builder output;

  /** Of an attempt without files. */
  public TaskMessage(String jobId, int task, long attempt) {
    output = TaskOutput.builder(jobId, task, attempt);
  }

  /**
   * Names files.
   *
   * @param location {@link #TABLE}, or the path of a custom location
   * @param files relative to there: "p=1/part-0"
   */
  public TaskMessage add(String location, String... files) {
    for (String file : files) {
      output.add(location, directory(file), name(file));
    }
    return this;
  }

  /**
   * Names a file in the table that was uploaded.
   *
   * @param file relative to the table
   * @param length in bytes
   * @param etag with the upload in it
   */
  public TaskMessage addUploaded(String file, long length, String etag) {
    output.add(TABLE, directory(file), name(file));
    output.uploaded(TABLE, directory(file), name(file), new UploadedFile(length, etag));
    return this;
  }

  private static String directory(String file) {
    return file.substring(0, Math.max(0, file.lastIndexOf('/')));
  }

  private static String name(String file) {
    return file.substring(file.lastIndexOf('/') + 1);
  }

  /** As it is sent. */
  public byte[] bytes() {
    return output.build().toBytes();
  }
}
