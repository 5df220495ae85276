// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import io.manifestcommitter.testing.HadoopCalls;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobID;

/** One job of the Hadoop protocol. What tasks write goes past the committer. */
public final class HadoopProtocolJob extends HadoopCalls {
  private static final AtomicInteger JOBS = new AtomicInteger();

  private HadoopProtocolJob(Configuration conf, Path table, JobID id) {
    super(conf, table, id);
  }

  /** A new job into {@code table}; nothing is done yet. */
  public static HadoopProtocolJob into(Path table, Configuration conf) {
    return new HadoopProtocolJob(
        bind(new Configuration(conf), table.toUri().getScheme()),
        table,
        new JobID("202601010000", JOBS.incrementAndGet()));
  }

  /** The same job as a process with another setting sees it. */
  public HadoopProtocolJob with(String key, String value) {
    Configuration own = new Configuration(conf);
    own.set(key, value);
    return new HadoopProtocolJob(own, table, id);
  }

  /** What an application master does that finds a finished job. */
  @SuppressWarnings("deprecation")
  public void cleanup() throws IOException {
    jobCommitter().cleanupJob(jobContext());
  }

  /** Writes one file of a task, at its path below the table. */
  public void write(int task, String file, byte[] content) throws IOException {
    Path path = new Path(committer(task, 0).getWorkPath(), file);
    try (FSDataOutputStream out = table.getFileSystem(conf).create(path, false)) {
      out.write(content);
    }
  }
}
