// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import java.util.Optional;
import org.apache.hadoop.fs.Path;

/** What a job keeps in a table while it runs, or has left there. */
public final class StagedJob {
  private final Path root;
  private final Kind kind;
  private final String jobId;
  private final Long age;
  private final long files;
  private final long bytes;
  private final boolean running;
  private final boolean unfinished;
  private final boolean planned;

  StagedJob(
      Path root,
      Kind kind,
      String jobId,
      Long age,
      long files,
      long bytes,
      boolean running,
      boolean unfinished,
      boolean planned) {
    this.root = root;
    this.kind = kind;
    this.jobId = jobId;
    this.age = age;
    this.files = files;
    this.bytes = bytes;
    this.running = running;
    this.unfinished = unfinished;
    this.planned = planned;
  }

  /** Whose it is. */
  public enum Kind {
    /** The Spark protocol's. */
    SPARK_PROTOCOL,
    /** The Hadoop protocol's, below {@code _temporary}. */
    HADOOP_PROTOCOL,
    /** Another committer's, below {@code _temporary}. */
    TEMPORARY,
    /** Of a dynamic overwrite by Spark's own protocol. */
    SPARK_STAGING
  }

  /** What is known of the job. */
  public enum State {
    /** Its driver shows signs of life, or something of it was written a short while ago. */
    RUNNING,
    /** Nothing of it is visible in the table, and nobody works on it. */
    ABANDONED,
    /**
     * Its commit was begun: data of it may be visible, and data that it replaces may be in here.
     */
    UNFINISHED
  }

  /** The directory with all that the job has here. */
  public Path root() {
    return root;
  }

  /** Whose it is. */
  public Kind kind() {
    return kind;
  }

  /** The job; empty where the directory's name does not tell. */
  public Optional<String> jobId() {
    return Optional.ofNullable(jobId);
  }

  /**
   * The time since the last heartbeat, or where there is none since the last write, in milliseconds
   * and by the store's clock; empty if the store cannot tell.
   */
  public Optional<Long> age() {
    return Optional.ofNullable(age);
  }

  /** How many files it holds. */
  public long files() {
    return files;
  }

  /** Their size. */
  public long bytes() {
    return bytes;
  }

  /** What is known of the job. */
  public State state() {
    if (running) {
      return State.RUNNING;
    }
    return unfinished ? State.UNFINISHED : State.ABANDONED;
  }

  /** Whether it holds a plan, or a part of one. */
  boolean hasPlan() {
    return planned;
  }

  /** Whether its commit was begun and did not end, also if it is running. */
  public boolean hasUnfinishedCommit() {
    return unfinished;
  }
}
