// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.Locale;

/** The Spark jobs of a million files that are committed in a small heap. */
enum SparkScaleJob {
  NEW("new partitions") {
    @Override
    JobShape shape(int tasks, int filesPerTask, int partitions) {
      return new JobShape(tasks, filesPerTask, partitions, p -> JobShape.yearAndMonth(p, 12));
    }
  },
  ONE("one new partition") {
    @Override
    JobShape shape(int tasks, int filesPerTask, int partitions) {
      return new JobShape(tasks, filesPerTask, 1, p -> "day=2026-01-01");
    }
  },
  ROOT("a table without partitions") {
    @Override
    JobShape shape(int tasks, int filesPerTask, int partitions) {
      return new JobShape(tasks, filesPerTask, 1, p -> "");
    }
  },
  APPEND("partitions that exist") {
    @Override
    JobShape shape(int tasks, int filesPerTask, int partitions) {
      return NEW.shape(tasks, filesPerTask, partitions);
    }
  },
  S3("new partitions on S3") {
    @Override
    JobShape shape(int tasks, int filesPerTask, int partitions) {
      return NEW.shape(tasks, filesPerTask, partitions);
    }
  };

  private final String title;

  SparkScaleJob(String title) {
    this.title = title;
  }

  /** What it is, for people. */
  String title() {
    return title;
  }

  /** Its name on the command line. */
  String option() {
    return "spark-" + name().toLowerCase(Locale.ROOT);
  }

  /** The job with that name on the command line. */
  static SparkScaleJob of(String option) {
    for (SparkScaleJob job : values()) {
      if (job.option().equals(option)) {
        return job;
      }
    }
    throw new IllegalArgumentException("There is no job '" + option + "'");
  }

  /** Of the table. */
  String scheme() {
    return this == S3 ? "s3a" : ScaleJob.SCHEME;
  }

  abstract JobShape shape(int tasks, int filesPerTask, int partitions);
}
