// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.spark.internal.io.FileNameSpec;
import org.apache.spark.internal.io.HadoopMapReduceCommitProtocol;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;

/** Spark's own commit protocol on the factory; whole Spark writes are in the end-to-end tests. */
class SparkCallerTest {
  private static final JobID JOB = new JobID("202601010000", 7);

  @TempDir File directory;

  private File table;
  private JobContext job;
  private TaskAttemptContext task;

  @BeforeEach
  void bind() {
    table = new File(directory, "table");
    JobConf conf = new JobConf();
    conf.set(
        PathOutputCommitterFactory.COMMITTER_FACTORY_SCHEME + ".file",
        ManifestCommitterFactory.class.getName());
    conf.setClass(
        MRJobConfig.OUTPUT_FORMAT_CLASS_ATTR, TextOutputFormat.class, FileOutputFormat.class);
    conf.set(FileOutputFormat.OUTDIR, table.toURI().toString());
    job = new JobContextImpl(conf, JOB);
    task = new TaskAttemptContextImpl(conf, new TaskAttemptID(new TaskID(JOB, TaskType.MAP, 0), 0));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void refusesTheProtocolThatWritesIntoTheTable(boolean dynamicOverwrite) {
    HadoopMapReduceCommitProtocol protocol =
        new HadoopMapReduceCommitProtocol("id", table.toURI().toString(), dynamicOverwrite);
    assertThatThrownBy(() -> protocol.setupJob(job))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(table.toString())
        .hasMessageContaining(
            "spark.sql.sources.commitProtocolClass ="
                + " io.manifestcommitter.spark.ManifestCommitProtocol")
        .hasMessageContaining("org.apache.spark.internal.io.cloud.PathOutputCommitProtocol")
        .hasMessageContaining("mapreduce.outputcommitter.factory.scheme.file");
    assertThat(table).doesNotExist();
  }

  /** Where the factory is bound on the executors alone, no driver has refused before. */
  @Test
  void refusesItsTasks() {
    assertThatThrownBy(() -> protocol().setupTask(task))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("spark.sql.sources.commitProtocolClass");
    assertThat(table).doesNotExist();
  }

  /** Why it is refused. A Spark that asks for the work path needs no refusal, and fails here. */
  @Test
  void thatProtocolDoesNotAskForTheWorkPath() throws IOException {
    HadoopMapReduceCommitProtocol protocol = makingOurs();
    protocol.setupTask(task);
    String file = protocol.newTaskTempFile(task, Option.empty(), new FileNameSpec("", "-c000.csv"));
    assertThat(new Path(file).getParent().toUri().getPath()).isEqualTo(table.toString());
  }

  @Test
  void refusesASubclassThatInheritsIt() {
    HadoopMapReduceCommitProtocol renaming =
        new HadoopMapReduceCommitProtocol("id", table.toURI().toString(), false) {
          private static final long serialVersionUID = 1L;

          @Override
          public OutputCommitter setupCommitter(TaskAttemptContext context) {
            return super.setupCommitter(context);
          }

          @Override
          public String newTaskTempFile(
              TaskAttemptContext context, Option<String> partition, FileNameSpec spec) {
            return super.newTaskTempFile(
                context, partition, new FileNameSpec("renamed-" + spec.prefix(), spec.suffix()));
          }
        };
    assertThatThrownBy(() -> renaming.setupJob(job))
        .hasMessageContaining("spark.sql.sources.commitProtocolClass");
    assertThat(table).doesNotExist();
  }

  @Test
  void acceptsASubclassThatMakesTheCommitterItself() {
    makingOurs().setupJob(job);
    assertThat(new File(table, "_temporary/manifest_" + JOB + "/00/tasks")).isDirectory();
  }

  /** As Spark does with {@code spark.sql.sources.outputCommitterClass}. */
  @Test
  void acceptsThatItsCommitterIsNotUsed() {
    HadoopMapReduceCommitProtocol replacing =
        new HadoopMapReduceCommitProtocol("id", table.toURI().toString(), false) {
          private static final long serialVersionUID = 1L;

          @Override
          public OutputCommitter setupCommitter(TaskAttemptContext context) {
            assertThat(super.setupCommitter(context)).isInstanceOf(ManifestCommitter.class);
            return fileOutputCommitter(context);
          }
        };
    replacing.setupJob(job);
    assertThat(new File(table, "_temporary/0")).isDirectory();
  }

  @Test
  void acceptsWritersOfMapReduce() throws Exception {
    TextOutputFormat<Text, Text> format = new TextOutputFormat<>();
    OutputCommitter committer = format.getOutputCommitter(task);
    committer.setupJob(job);
    committer.setupTask(task);
    RecordWriter<Text, Text> writer = format.getRecordWriter(task);
    writer.write(new Text("key"), new Text("value"));
    writer.close(task);
    assertThat(table.listFiles((dir, name) -> name.startsWith("part-"))).isEmpty();
    committer.commitTask(task);
    committer.commitJob(job);
    assertThat(new File(table, "part-m-00000")).hasContent("key\tvalue");
  }

  @Test
  void hasNoDynamicPartitioning() {
    StreamCapabilities committer = (StreamCapabilities) ours(task);
    assertThat(committer.hasCapability(SparkCaller.DYNAMIC_PARTITIONING)).isFalse();
    assertThat(committer.hasCapability("hsync")).isFalse();
  }

  private HadoopMapReduceCommitProtocol protocol() {
    return new HadoopMapReduceCommitProtocol("id", table.toURI().toString(), false);
  }

  private HadoopMapReduceCommitProtocol makingOurs() {
    return new HadoopMapReduceCommitProtocol("id", table.toURI().toString(), false) {
      private static final long serialVersionUID = 1L;

      @Override
      public OutputCommitter setupCommitter(TaskAttemptContext context) {
        return ours(context);
      }
    };
  }

  private PathOutputCommitter ours(TaskAttemptContext context) {
    try {
      return PathOutputCommitterFactory.createCommitter(new Path(table.toURI()), context);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private OutputCommitter fileOutputCommitter(TaskAttemptContext context) {
    try {
      return new FileOutputCommitter(new Path(table.toURI()), context);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
