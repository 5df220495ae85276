// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import java.util.Locale;

/**
 * What can be wrong with the binding of a path, causes before their consequences. The codes are
 * stable: programs may ask for them.
 */
enum ProblemCode {
  /** The path cannot be parsed. */
  UNUSABLE_PATH,
  /** The store is one that the committer refuses. */
  UNSUPPORTED_STORE,
  /** The session does not have our jar. */
  JAR_MISSING,
  /** The class of Spark's commit protocol is missing, or is none. */
  SPARK_PROTOCOL_NOT_FOUND,
  /** Spark SQL writes by Spark's default protocol. */
  SPARK_PROTOCOL,
  /** The class of the Parquet committer is missing: Spark asks for it under every protocol. */
  PARQUET_COMMITTER_NOT_FOUND,
  /** The path has no scheme, so Hadoop looks for the factory of {@code null}. */
  NO_SCHEME,
  /** No factory is bound for the scheme, or the one of FileOutputCommitter. */
  NO_FACTORY,
  /** The class of the factory is not on the class path. */
  FACTORY_NOT_FOUND,
  /** The factory does not make a committer. */
  FACTORY_FAILED,
  /** Hadoop's own manifest committer is bound. */
  HADOOP_FACTORY,
  /** The factory of some other committer is bound. */
  OTHER_FACTORY,
  /** The factory was set in the Spark session only, where RDD writers do not see it. */
  SESSION_FACTORY,
  /** Of {@code abfs} and {@code abfss} only one is bound. */
  HALF_BOUND,
  /** Our factory is bound for all schemes, those that it refuses among them. */
  FACTORY_FOR_ALL,
  /** An option of the committer has a value that is not allowed. */
  BAD_OPTION,
  /** Spark SQL writes by somebody else's protocol. */
  OTHER_SPARK_PROTOCOL,
  /** What Hadoop's binding for Spark makes of a dynamic partition overwrite. */
  STOCK_OVERWRITE,
  /** Streaming queries write by another protocol than Spark's. */
  STREAMING_PROTOCOL,
  /** {@code spark.sql.sources.outputCommitterClass} is set and has no effect. */
  OUTPUT_COMMITTER_IGNORED,
  /** The class of the store's FileSystem is not on the class path. */
  STORE_NOT_FOUND,
  /** {@code gs://} is served by Hadoop's connector rather than Google's. */
  GCS_HADOOPS_CONNECTOR,
  /** The block size is written in a form that keeps Google's connector from opening. */
  GCS_BLOCK_SIZE,
  /** Google's connector is built for a newer Hadoop than this, and cannot open files of lines. */
  GCS_NEEDS_NEWER_HADOOP,
  /** Google Cloud Storage is asked by FileSystem calls, which take more requests. */
  GCS_FILESYSTEM_CALLS,
  /** Google's connector renames by copying, or may do so. */
  GCS_NO_MOVE,
  /** Google's connector compares no checksums, so a lost answer is recovered by length only. */
  GCS_NO_CHECKSUM,
  /** Google's connector makes requests that are not needed. */
  GCS_REQUESTS,
  /** Settings of S3A by which uploads of jobs that run are aborted. */
  S3_ABORTED_UPLOADS,
  /** Hadoop 3.3 deletes markers of directories above each file that is published. */
  S3_DIRECTORY_MARKERS,
  /** Tasks are to write to S3A's magic paths, which cannot be used. */
  S3_MAGIC_UNAVAILABLE,
  /** A version of hadoop-azure that reads ahead into the wrong buffers. */
  ABFS_READ_AHEAD,
  /** The store's FileSystem does not open. */
  STORE_FAILED,
  /** Opening the store takes longer than this program waits. */
  NO_ANSWER;

  /** As it is printed: {@code no-factory}. */
  String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
