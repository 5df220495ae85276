// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.store.Stores;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;

/** What jobs are started with, as far as it is known where this program runs. */
final class JobSettings {
  /** How much is known. */
  enum Origin {
    /** Settings from files and the command line: jobs may get more. */
    FILES,
    /** This program runs within Spark, on the session's own class path. */
    SPARK_SUBMIT,
    /** A session, and its class loader. */
    SESSION,
    /**
     * The settings of a Spark Connect session, on its server. Hadoop's own files there may differ
     * from the driver's, and secrets are redacted, so that no store can be opened.
     */
    CONNECT_SERVER
  }

  private final Configuration jobs;

  /** Hadoop's configuration in writes of Spark SQL. */
  final Configuration sql;

  final SparkSettings spark;
  final ClassLoader loader;
  final Origin origin;

  /**
   * The settings of jobs.
   *
   * @param jobs Hadoop's configuration as MapReduce jobs and RDD writers get it
   * @param sql the same as writes of Spark SQL get it, with the settings of the session
   * @param loader where Spark looks for its commit protocol
   */
  JobSettings(
      Configuration jobs,
      Configuration sql,
      SparkSettings spark,
      ClassLoader loader,
      Origin origin) {
    this.jobs = isolated(jobs);
    this.sql = isolated(sql);
    this.spark = Objects.requireNonNull(spark);
    this.loader = Objects.requireNonNull(loader);
    this.origin = Objects.requireNonNull(origin);
  }

  /**
   * Hadoop's configuration for opening a store and making a committer: the session's, which has the
   * user's credentials, with the factories that RDD writers and MapReduce jobs see.
   */
  Configuration jobs(Path path) {
    Configuration conf = new Configuration(sql);
    conf.setClassLoader(jobs.getClassLoader());
    Stream.concat(Stream.of(path.toUri().getScheme()), Stores.sibling(path).stream())
        .map(FactoryBinding::key)
        .forEach(key -> take(conf, key));
    take(conf, FactoryBinding.FOR_ALL);
    return conf;
  }

  private void take(Configuration conf, String key) {
    conf.unset(key);
    FactoryBinding.setting(jobs, key)
        .ifPresent(setting -> conf.set(key, setting.value, setting.source));
  }

  /**
   * A copy that has all that a job's configuration has (only JobConf loads mapred-default.xml), and
   * that loads classes through a loader of its own. Hadoop remembers for each loader which classes
   * it did not find, and a class that is missing now may be added to the session later.
   */
  private static Configuration isolated(Configuration conf) {
    Configuration copy = new JobConf(conf);
    copy.setClassLoader(new URLClassLoader(new URL[0], conf.getClassLoader()));
    return copy;
  }
}
