// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.spark.ManifestCommitProtocol;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.HadoopMapReduceCommitProtocol;
import org.apache.spark.internal.io.cloud.PathOutputCommitProtocol;

/** The commit protocols that are measured under Spark's calls. The first is the yardstick. */
enum SparkContender {
  OURS("this committer") {
    @Override
    FileCommitProtocol bind(
        Configuration conf, String jobId, Path table, boolean dynamicOverwrite) {
      return new ManifestCommitProtocol(jobId, table.toString(), dynamicOverwrite);
    }

    @Override
    String writer(String jobId) {
      return "-" + jobId + "-0";
    }
  },
  HADOOP("Hadoop 3.5.0 manifest committer") {
    @Override
    FileCommitProtocol bind(
        Configuration conf, String jobId, Path table, boolean dynamicOverwrite) {
      factory(
          conf,
          table,
          org.apache.hadoop.mapreduce.lib.output.committer.manifest.ManifestCommitterFactory.class);
      return new PathOutputCommitProtocol(jobId, table.toString(), dynamicOverwrite);
    }
  },
  FILE_V1("Spark's default, FileOutputCommitter v1") {
    @Override
    FileCommitProtocol bind(
        Configuration conf, String jobId, Path table, boolean dynamicOverwrite) {
      return sparks(conf, jobId, table, dynamicOverwrite, 1);
    }
  },
  FILE_V2("Spark's default, FileOutputCommitter v2") {
    @Override
    FileCommitProtocol bind(
        Configuration conf, String jobId, Path table, boolean dynamicOverwrite) {
      return sparks(conf, jobId, table, dynamicOverwrite, 2);
    }
  };

  private final String title;

  SparkContender(String title) {
    this.title = title;
  }

  /** What the tables call it. */
  String title() {
    return title;
  }

  /** Makes the protocol as Spark makes it for one write, and sets what Spark sets for it. */
  abstract FileCommitProtocol bind(
      Configuration conf, String jobId, Path table, boolean dynamicOverwrite);

  /** What stands in the names of its files between the number of the task and that of the file. */
  String writer(String jobId) {
    return "-" + jobId;
  }

  private static FileCommitProtocol sparks(
      Configuration conf, String jobId, Path table, boolean dynamicOverwrite, int algorithm) {
    factory(conf, table, FileOutputCommitterFactory.class);
    conf.setInt(FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION, algorithm);
    // Where the command of Spark SQL lets its output format write.
    Path output =
        dynamicOverwrite ? FileCommitProtocol.getStagingDir(table.toString(), jobId) : table;
    conf.set(FileOutputFormat.OUTDIR, output.toString());
    return new HadoopMapReduceCommitProtocol(jobId, table.toString(), dynamicOverwrite);
  }

  private static void factory(Configuration conf, Path table, Class<?> factory) {
    conf.set(
        String.format(
            PathOutputCommitterFactory.COMMITTER_FACTORY_SCHEME_PATTERN, table.toUri().getScheme()),
        factory.getName());
  }
}
