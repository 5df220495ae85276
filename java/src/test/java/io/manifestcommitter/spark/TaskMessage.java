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
      int slash = file.lastIndexOf('/');
      output.add(location, slash < 0 ? "" : file.substring(0, slash), file.substring(slash + 1));
    }
    return this;
  }

  /** As it is sent. */
  public byte[] bytes() {
    return output.build().toBytes();
  }
}
