// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.execution;

import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileNameSpec;
import org.apache.spark.internal.io.HadoopMapReduceCommitProtocol;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol;
import org.apache.spark.sql.execution.datasources.WriteFiles;
import org.apache.spark.sql.execution.datasources.WriteFilesExec;
import org.apache.spark.sql.execution.datasources.WriteFilesSpec;
import scala.Option;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.List;
import scala.collection.immutable.List$;

/**
 * Stands in for engines that write files themselves: plans a write with a node of theirs, of the
 * same class name, above Spark's. Below it Spark's own writer writes, where the engine would.
 */
public final class NativeWriterStandIn extends SparkStrategy {
  private final String writer;

  /** With the simple name of a class in this file. */
  public NativeWriterStandIn(String writer) {
    this.writer = writer;
  }

  @Override
  public List<SparkPlan> apply(LogicalPlan plan) {
    if (!(plan instanceof WriteFiles)) {
      return List$.MODULE$.<SparkPlan>empty();
    }
    WriteFiles write = (WriteFiles) plan;
    SparkPlan sparks =
        new WriteFilesExec(
            planLater(write.child()),
            write.fileFormat(),
            write.partitionColumns(),
            write.bucketSpec(),
            write.options(),
            write.staticPartitions());
    return only(
        writer.startsWith("Velox")
            ? new VeloxColumnarWriteFilesExec(sparks)
            : writer.startsWith("CH")
                ? new CHColumnarWriteFilesExec(sparks)
                : new RenamingWriteFilesExec(sparks));
  }

  static List<SparkPlan> only(SparkPlan plan) {
    return new $colon$colon<>(plan, List$.MODULE$.<SparkPlan>empty());
  }

  /** Makes its committer by the factory, as the protocol of spark-hadoop-cloud does. */
  public static final class FactoryProtocol extends SQLHadoopMapReduceCommitProtocol {
    private static final long serialVersionUID = 1L;
    private final String table;

    public FactoryProtocol(String id, String table, boolean isDynamic) {
      super(id, table, isDynamic);
      this.table = table;
    }

    @Override
    public OutputCommitter setupCommitter(TaskAttemptContext context) {
      try {
        return PathOutputCommitterFactory.createCommitter(new Path(table), context);
      } catch (java.io.IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }
  }
}

/** A node that hands a write on to Spark's. */
abstract class WriterStandIn extends SparkPlan {
  final SparkPlan sparks;

  WriterStandIn(SparkPlan sparks) {
    this.sparks = sparks;
  }

  abstract WriterStandIn above(SparkPlan child);

  @Override
  public List<SparkPlan> children() {
    return NativeWriterStandIn.only(sparks);
  }

  /** Spark 3.5, Scala 2.12. */
  public SparkPlan withNewChildrenInternal(scala.collection.IndexedSeq<SparkPlan> children) {
    return above((SparkPlan) children.head());
  }

  /** Spark 4, Scala 2.13. */
  public SparkPlan withNewChildrenInternal(
      scala.collection.immutable.IndexedSeq<SparkPlan> children) {
    return above((SparkPlan) children.head());
  }

  /** Spark would look for a public constructor of a public class. */
  @Override
  public SparkPlan clone() {
    return above(sparks.clone());
  }

  @Override
  public List<Attribute> output() {
    return List$.MODULE$.<Attribute>empty();
  }

  @Override
  public RDD<InternalRow> doExecute() {
    throw new UnsupportedOperationException();
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int number) {
    return sparks;
  }

  @Override
  public boolean canEqual(Object other) {
    return getClass().isInstance(other);
  }

  @Override
  public boolean equals(Object other) {
    return canEqual(other) && sparks.equals(((WriterStandIn) other).sparks);
  }

  @Override
  public int hashCode() {
    return sparks.hashCode();
  }
}

/** As Gluten's, from 1.2 to 1.6: it asserts that the protocol is one that extends Spark's. */
class VeloxColumnarWriteFilesExec extends WriterStandIn {
  VeloxColumnarWriteFilesExec(SparkPlan sparks) {
    super(sparks);
  }

  @Override
  WriterStandIn above(SparkPlan child) {
    return new VeloxColumnarWriteFilesExec(child);
  }

  @Override
  public RDD<WriterCommitMessage> doExecuteWrite(WriteFilesSpec spec) {
    if (!(spec.committer() instanceof HadoopMapReduceCommitProtocol)) {
      throw new AssertionError("assertion failed");
    }
    return sparks.executeWrite(spec);
  }
}

/** The same of the other backend. */
final class CHColumnarWriteFilesExec extends VeloxColumnarWriteFilesExec {
  CHColumnarWriteFilesExec(SparkPlan sparks) {
    super(sparks);
  }

  @Override
  WriterStandIn above(SparkPlan child) {
    return new CHColumnarWriteFilesExec(child);
  }
}

/**
 * A writer that nobody knows. It does with names what Comet's does, from 0.13 to 1.0: it takes the
 * directory of the name that it is given, and writes there under a name of its own.
 */
final class RenamingWriteFilesExec extends WriterStandIn {
  RenamingWriteFilesExec(SparkPlan sparks) {
    super(sparks);
  }

  @Override
  WriterStandIn above(SparkPlan child) {
    return new RenamingWriteFilesExec(child);
  }

  @Override
  public RDD<WriterCommitMessage> doExecuteWrite(WriteFilesSpec spec) {
    return sparks.executeWrite(
        new WriteFilesSpec(
            spec.description(),
            new Renaming(spec.committer()),
            spec.concurrentOutputWriterSpecFunc()));
  }
}

/** What the tasks of such a writer make of a protocol. */
final class Renaming extends FileCommitProtocol implements java.io.Serializable {
  private static final long serialVersionUID = 1L;
  private final FileCommitProtocol given;
  private int files;

  Renaming(FileCommitProtocol given) {
    this.given = given;
  }

  @Override
  public void setupTask(TaskAttemptContext task) {
    given.setupTask(task);
  }

  @Override
  public String newTaskTempFile(TaskAttemptContext task, Option<String> dir, FileNameSpec spec) {
    Path name = new Path(given.newTaskTempFile(task, dir, spec));
    int partition = task.getTaskAttemptID().getTaskID().getId();
    String own = String.format("part-%05d-%05d.parquet", partition, files++);
    return new Path(name.getParent(), own).toString();
  }

  @Override
  public String newTaskTempFile(TaskAttemptContext task, Option<String> dir, String suffix) {
    return newTaskTempFile(task, dir, new FileNameSpec("", suffix));
  }

  @Override
  public String newTaskTempFileAbsPath(TaskAttemptContext task, String dir, String suffix) {
    throw new UnsupportedOperationException();
  }

  @Override
  public TaskCommitMessage commitTask(TaskAttemptContext task) {
    return given.commitTask(task);
  }

  @Override
  public void abortTask(TaskAttemptContext task) {
    given.abortTask(task);
  }

  @Override
  public void setupJob(JobContext job) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void abortJob(JobContext job) {
    throw new UnsupportedOperationException();
  }

  /** Spark 3.5, Scala 2.12. */
  public void commitJob(JobContext job, scala.collection.Seq<TaskCommitMessage> messages) {
    throw new UnsupportedOperationException();
  }

  /** Spark 4, Scala 2.13. */
  public void commitJob(
      JobContext job, scala.collection.immutable.Seq<TaskCommitMessage> messages) {
    throw new UnsupportedOperationException();
  }
}
