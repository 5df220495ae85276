// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.ManifestCommitterFactory;
import io.manifestcommitter.config.CommitterConfig;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;

/** The committers that are measured, each bound as a job binds it. The first is the yardstick. */
enum Contender {
  OURS("this committer", ManifestCommitterFactory.class.getName(), "default (64)") {
    @Override
    void tune(Configuration conf) {}
  },
  HADOOP("Hadoop 3.5.0 manifest committer", hadoopFactory(), "default (32)") {
    @Override
    void tune(Configuration conf) {}
  },
  OURS_32("this committer", ManifestCommitterFactory.class.getName(), "32") {
    @Override
    void tune(Configuration conf) {
      conf.setInt(CommitterConfig.IO_THREADS, 32);
    }
  },
  FILE_V1("FileOutputCommitter v1", FileOutputCommitterFactory.class.getName(), "1") {
    @Override
    void tune(Configuration conf) {
      conf.setInt(FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION, 1);
    }
  },
  FILE_V2("FileOutputCommitter v2", FileOutputCommitterFactory.class.getName(), "1") {
    @Override
    void tune(Configuration conf) {
      conf.setInt(FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION, 2);
    }
  };

  private final String title;
  private final String factory;
  private final String threads;

  Contender(String title, String factory, String threads) {
    this.title = title;
    this.factory = factory;
    this.threads = threads;
  }

  /** What the tables call it. */
  String title() {
    return title;
  }

  /** How many requests of a job commit may be under way at once. */
  String threads() {
    return threads;
  }

  /** Makes it the committer of the jobs of {@code conf} that write to {@code scheme}. */
  void bind(Configuration conf, String scheme) {
    conf.set(
        String.format(PathOutputCommitterFactory.COMMITTER_FACTORY_SCHEME_PATTERN, scheme),
        factory);
    tune(conf);
  }

  abstract void tune(Configuration conf);

  private static String hadoopFactory() {
    return org.apache.hadoop.mapreduce.lib.output.committer.manifest.ManifestCommitterFactory.class
        .getName();
  }
}
