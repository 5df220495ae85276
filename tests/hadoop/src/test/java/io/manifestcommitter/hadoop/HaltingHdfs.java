// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/**
 * HDFS that ends the JVM at a rename that publishes something, counted from 1 for each instance; an
 * instance is made for each committer. Its settings are options of the job, so that it works in
 * other processes too.
 */
public final class HaltingHdfs extends DistributedFileSystem {
  private static final String MOMENT = "test.halts.moment";
  private static final String AT = "test.halts.at";
  private static final String MARKER = "test.halts.marker";

  private final AtomicInteger renames = new AtomicInteger();

  /** When the JVM ends. */
  enum Moment {
    /** Before the rename. */
    RENAME,
    /** After the job's directory was deleted past the rename. */
    CLEANUP
  }

  /**
   * A copy of a job's settings with which a process halts that comes so far.
   *
   * @param marker the file that the first one makes, after which none halts any more
   */
  static Configuration halt(Configuration job, Moment moment, int at, java.nio.file.Path marker) {
    Configuration conf = new Configuration(job);
    conf.set("fs.hdfs.impl", HaltingHdfs.class.getName());
    conf.setBoolean("fs.hdfs.impl.disable.cache", true);
    conf.setEnum(MOMENT, moment);
    conf.setInt(AT, at);
    conf.set(MARKER, marker.toString());
    return conf;
  }

  /** Whether a job's rename publishes: into its output directory, {@code _temporary} excepted. */
  static boolean publishes(Configuration job, Path destination) {
    String table = new Path(job.get(FileOutputFormat.OUTDIR)).toUri().getPath();
    String path = destination.toUri().getPath();
    return path.startsWith(table + "/") && !path.startsWith(table + "/_temporary/");
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    if (publishes(getConf(), destination) && renames.incrementAndGet() == getConf().getInt(AT, 0)) {
      haltOnce(Moment.RENAME);
    }
    return super.rename(source, destination);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    boolean deleted = super.delete(path, recursive);
    if (renames.get() >= getConf().getInt(AT, 0) && path.getName().startsWith("manifest_")) {
      haltOnce(Moment.CLEANUP);
    }
    return deleted;
  }

  private void haltOnce(Moment moment) throws IOException {
    if (getConf().getEnum(MOMENT, moment) != moment) {
      return;
    }
    try {
      Files.createFile(Paths.get(getConf().get(MARKER)));
    } catch (FileAlreadyExistsException e) {
      return;
    }
    Runtime.getRuntime().halt(1);
  }
}
