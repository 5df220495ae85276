// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.testing.RequestFaults;
import java.io.File;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A job of the Hadoop protocol on a local directory, for the tests of each phase. */
abstract class LocalJobTest {
  @TempDir File directory;

  HadoopJobHarness job;
  RequestFaults faults;

  @BeforeEach
  final void openJob() {
    job = HadoopJobHarness.local(new File(directory, "table"));
    faults = RequestFaults.bind(job.conf);
  }

  @AfterEach
  final void closeFaults() throws IOException {
    faults.close();
  }

  /**
   * A job that published part-0 and could not publish p/part-1; the store goes on refusing that.
   */
  final PathOutputCommitter committerThatFailedAtPart1() throws IOException {
    job.conf.set(CommitterConfig.IO_THREADS, "1");
    faults.refuse("rename", path -> path.getName().equals("part-1"));
    job.runTasks(Map.of("part-0", "a", "p/part-1", "b"));
    return failedCommitter();
  }

  private PathOutputCommitter failedCommitter() throws IOException {
    PathOutputCommitter committer = job.jobCommitter();
    assertThatThrownBy(() -> committer.commitJob(job.jobContext())).isInstanceOf(IOException.class);
    return committer;
  }
}
