// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.ManifestCommitter;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.LazyOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.MapFileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileAsBinaryOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.util.ReflectionUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which of Hadoop's output formats ask the factory for their committer, and which do not. */
class OutputFormatsIT extends OnHdfs {
  static Stream<Class<?>> formats() {
    return Stream.of(
        TextOutputFormat.class,
        SequenceFileOutputFormat.class,
        SequenceFileAsBinaryOutputFormat.class,
        MapFileOutputFormat.class);
  }

  @ParameterizedTest
  @MethodSource("formats")
  void formatsOfTheNewInterfaceAsk(Class<?> format) throws Exception {
    Configuration conf = conf();
    OutputFormat<?, ?> instance = (OutputFormat<?, ?>) ReflectionUtils.newInstance(format, conf);

    assertThat(instance.getOutputCommitter(context(conf))).isInstanceOf(ManifestCommitter.class);
  }

  @Test
  void theLazyFormatAsksThroughTheOneItWraps() throws Exception {
    Configuration conf = conf();
    conf.setClass(
        "mapreduce.output.lazyoutputformat.outputformat",
        TextOutputFormat.class,
        OutputFormat.class);
    LazyOutputFormat<?, ?> lazy = ReflectionUtils.newInstance(LazyOutputFormat.class, conf);

    assertThat(lazy.getOutputCommitter(context(conf))).isInstanceOf(ManifestCommitter.class);
  }

  @Test
  void theOldInterfaceNeverAsks() {
    OutputCommitter committer = new JobConf(conf()).getOutputCommitter();

    assertThat(committer).isInstanceOf(org.apache.hadoop.mapred.FileOutputCommitter.class);
  }

  /** The key is the literal scheme: without one the factory is not asked. */
  @Test
  void aPathWithoutASchemeDoesNotAsk() throws Exception {
    Configuration conf = conf();
    conf.set(FileOutputFormat.OUTDIR, "/tables/no-scheme");

    assertThat(new TextOutputFormat<Object, Object>().getOutputCommitter(context(conf)))
        .isInstanceOf(FileOutputCommitter.class);
  }

  /** As jobs set it: {@link FileOutputFormat#setOutputPath} adds the scheme. */
  @Test
  void anOutputPathThatAJobSetsHasItsScheme() throws Exception {
    org.apache.hadoop.mapreduce.Job job = org.apache.hadoop.mapreduce.Job.getInstance(conf());
    FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path("/tables/with-scheme"));

    assertThat(
            new TextOutputFormat<Object, Object>()
                .getOutputCommitter(context(job.getConfiguration())))
        .isInstanceOf(ManifestCommitter.class);
  }

  private Configuration conf() {
    Configuration conf = hdfs.conf();
    conf.set(FileOutputFormat.OUTDIR, hdfs.newTable("formats").toString());
    return conf;
  }

  private static TaskAttemptContext context(Configuration conf) {
    return new TaskAttemptContextImpl(conf, new TaskAttemptID());
  }
}
