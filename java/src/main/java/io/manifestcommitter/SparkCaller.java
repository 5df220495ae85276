// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import io.manifestcommitter.spark.SparkCommand;
import java.util.Iterator;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;

/**
 * Which part of Spark a committer is constructed for. Nothing but the constructing stack tells; it
 * was looked at on Spark 3.5.9 and 4.3.0, where driver and executors show the same.
 *
 * <p>{@link #DEFAULT_PROTOCOL} writes past us. Its {@code newTaskTempFile} asks the committer where
 * to write only if that is a {@code FileOutputCommitter}; otherwise tasks write straight into the
 * table. Its frame {@code HadoopMapReduceCommitProtocol.setupCommitter} is on the stack for ORC,
 * CSV, JSON, text and XML, whatever {@code spark.sql.sources.useV1SourceList} says. That holds for
 * DataFrames, INSERT, CREATE TABLE AS SELECT and INSERT OVERWRITE DIRECTORY. Above it is {@code
 * SQLHadoopMapReduceCommitProtocol}, another subclass, or none. Never on it are:
 *
 * <ul>
 *   <li>{@code PathOutputCommitProtocol}, which replaces {@code setupCommitter} and writes to
 *       {@link ManifestCommitter#getWorkPath}. A user's subclass that does the same passes, too;
 *   <li>{@code BindingParquetOutputCommitter} under the default protocol: a {@code
 *       FileOutputCommitter} that answers with our work path, made when that frame has gone;
 *   <li>writers that do not ask the factory: Parquet without it, streaming sinks, the RDD writers
 *       of the {@code mapred} interface, {@code ManifestCommitProtocol}.
 * </ul>
 *
 * <p>The RDD writers of the {@code mapreduce} interface have that frame and are safe, since they
 * write through {@code FileOutputFormat.getDefaultWorkFile}, which asks for {@code getWorkPath}.
 */
enum SparkCaller {
  /** MapReduce, or a protocol of Spark that writes where the committer says. */
  NONE_TO_HEED,

  /** {@code saveAsNewAPIHadoopFile} and {@code saveAsNewAPIHadoopDataset}. */
  RDD_WRITER,

  /** A protocol that writes into the table, past the staging directory. */
  DEFAULT_PROTOCOL;

  /** The capability that {@code PathOutputCommitProtocol} asks a committer for. */
  static final String DYNAMIC_PARTITIONING = "mapreduce.job.committer.dynamic.partitioning";

  private static final String OUR_PROTOCOL =
      "spark.sql.sources.commitProtocolClass ="
          + " io.manifestcommitter.spark.ManifestCommitProtocol";
  private static final String PATH_OUTPUT_PROTOCOL =
      "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol";
  private static final String PARQUET_BINDING =
      "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter";
  private static final String RDD_WRITER_CLASS = "org.apache.spark.internal.io.SparkHadoopWriter$";
  private static final String PROTOCOL_CLASS =
      "org.apache.spark.internal.io.HadoopMapReduceCommitProtocol";

  /** What the stack of the calling thread shows. */
  static SparkCaller ofThisStack() {
    return StackWalker.getInstance().walk(SparkCaller::of);
  }

  private static SparkCaller of(Stream<StackWalker.StackFrame> frames) {
    SparkCaller caller = NONE_TO_HEED;
    for (Iterator<StackWalker.StackFrame> all = frames.iterator(); all.hasNext(); ) {
      StackWalker.StackFrame frame = all.next();
      if (frame.getClassName().equals(RDD_WRITER_CLASS)) {
        return RDD_WRITER;
      }
      if (frame.getClassName().equals(PROTOCOL_CLASS)
          && frame.getMethodName().equals("setupCommitter")) {
        caller = DEFAULT_PROTOCOL;
      }
    }
    return caller;
  }

  /**
   * Refuses a job or task that would write past the staging directory.
   *
   * <p>To be asked in setupJob, on the driver and before a task runs, and not in a constructor:
   * with {@code spark.sql.sources.outputCommitterClass} Spark makes our committer only to replace
   * it with another. For the same reason an unchecked exception: PySpark turns this one into its
   * own {@code IllegalArgumentException} and shows the message first.
   *
   * @throws IllegalArgumentException if it would; it names the settings that repair it
   */
  void requireStaging(Path destination) {
    if (this == DEFAULT_PROTOCOL) {
      throw new IllegalArgumentException(
          "Refused to write "
              + destination
              + ": Spark's commit protocol of this session writes straight into the table, past the"
              + " staging directory of the manifest committer. Rows would be visible before the job"
              + " commits, and would stay if it fails. Set "
              + OUR_PROTOCOL
              + " (or, from spark-hadoop-cloud, "
              + PATH_OUTPUT_PROTOCOL
              + "), or remove the factory from mapreduce.outputcommitter.factory.scheme."
              + destination.toUri().getScheme());
    }
  }

  /**
   * Refuses a job whose files Gluten would write, which asks none but a {@code FileOutputCommitter}
   * where to. {@code BindingParquetOutputCommitter} is one, and answers with our work path.
   *
   * @throws IllegalArgumentException see {@link SparkCommand#requireKnownWriter}
   */
  static void requireKnownWriter(Path destination) {
    boolean isAsked =
        StackWalker.getInstance()
            .walk(frames -> frames.anyMatch(is -> is.getClassName().equals(PARQUET_BINDING)));
    if (isAsked) {
      return;
    }
    SparkCommand command;
    try {
      command = SparkCommand.ofThisThread();
    } catch (LinkageError e) {
      // There is no Spark here, as in MapReduce.
      return;
    }
    command.requireKnownWriter(destination.toString());
  }

  /**
   * Whether {@code spark.sql.sources.writeJobUUID} is the same on the driver and in the tasks. The
   * RDD writers set it after the configuration for the tasks may have been copied: with a plain
   * {@code Configuration}, as PySpark's {@code saveAsNewAPIHadoopDataset} gives it, only the driver
   * sees it. There the id of the job context is the one that both sides know.
   */
  boolean sharesWriteJobUuid() {
    return this != RDD_WRITER;
  }

  /**
   * Answers whether the committer has {@link #DYNAMIC_PARTITIONING}. {@code
   * PathOutputCommitProtocol} asks in two places, and a yes means something else in each.
   *
   * <p>In {@code newTaskTempFileAbsPath} it is about partitions with a location of their own: Spark
   * stages and moves their files itself, without us, so yes. In {@code setupCommitter}, before a
   * task runs, it is about a dynamic partition overwrite. After a yes Spark leaves it to the
   * committer to delete the old files of the partitions, and does not tell it so. The job would
   * then append, and report success.
   *
   * @throws UnsupportedOperationException to a dynamic partition overwrite; it names the settings
   *     that repair it, which Spark's own message would not
   */
  static boolean supportsDynamicPartitioning(Path destination) {
    Set<String> asking =
        StackWalker.getInstance()
            .walk(
                frames ->
                    frames
                        .filter(frame -> frame.getClassName().equals(PATH_OUTPUT_PROTOCOL))
                        .map(StackWalker.StackFrame::getMethodName)
                        .collect(Collectors.toSet()));
    if (asking.contains("setupCommitter")) {
      throw new UnsupportedOperationException(
          "Refused to overwrite partitions of "
              + destination
              + " dynamically: under PathOutputCommitProtocol the new rows would be added to the"
              + " old ones. Set "
              + OUR_PROTOCOL
              + ", or overwrite with spark.sql.sources.partitionOverwriteMode = static");
    }
    return asking.contains("newTaskTempFileAbsPath");
  }
}
