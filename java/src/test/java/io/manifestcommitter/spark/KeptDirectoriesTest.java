// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.jobs.StagedJobs;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.Recoveries.PassingTime;
import io.manifestcommitter.testing.SparkCalls;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs on a server of S3's protocol that keeps a directory after its last object is deleted. */
class KeptDirectoriesTest {
  private static final long DAY = Duration.ofDays(1).toMillis();

  private final MemoryStoreState state = MemoryFileSystem.state("keeping");
  private final Configuration conf = MemoryFileSystem.configuration();
  private final Path table = new Path("s3a://keeping/table");

  @BeforeEach
  void clear() {
    conf.setBoolean(MemoryFileSystem.KEEPS_DIRECTORIES, true);
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "1h");
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "5h");
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    state.clear();
  }

  @Test
  void anAppendCostsTheSameAfterManyOthers() throws IOException {
    List<Map<String, Integer>> requests = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      state.resetRequests();
      append("job-" + i);
      requests.add(state.requestsByOperation());
    }

    assertThat(requests.get(19)).isEqualTo(requests.get(1));
    assertThat(jobs()).containsExactly("job-20");
    assertThat(state.visible()).hasSize(20);
  }

  @Test
  void aJobThatLivesKeepsItsDirectory() throws IOException {
    SparkCalls living = SparkCalls.of(conf, table, "living", false).setUp();
    List<TaskCommitMessage> messages = List.of(living.task(0, "p=1"));

    append("other");
    assertThat(state.files()).containsKey("/table/_manifest_living/heartbeat");

    living.commit(messages);
    assertThat(state.visible()).hasSize(2);
  }

  @Test
  void anEmptyDirectoryThatCannotBeRemovedFailsNoJob() throws IOException {
    append("job-1");
    state.onRequest(Fault.on("delete", Fate.FAILS_BEFORE, path -> path.contains("job-1")));

    append("job-2");

    assertThat(state.visible()).hasSize(2);
    assertThat(jobs()).containsExactlyInAnyOrder("job-1", "job-2");
  }

  @Test
  void cleaningRemovesThem() throws IOException {
    append("job-1");
    Store store = new Stores(conf).all();
    CommitterConfig config = new CommitterConfig(conf);
    StagedJobs staged = new StagedJobs(store, config);
    List<StagedJob> found = staged.find(table, DAY);
    assertThat(found).extracting(StagedJob::state).containsExactly(StagedJob.State.ABANDONED);

    Pause pause = new PassingTime();
    LifeSigns signs = new LifeSigns(store, config, pause::nanos);
    staged.remove(found.get(0), /* force= */ false, signs, pause);

    assertThat(jobs()).doesNotContain("job-1");
    assertThat(state.visible()).hasSize(1);
  }

  private void append(String job) throws IOException {
    SparkCalls calls = SparkCalls.of(conf, table, job, false).setUp();
    calls.commit(List.of(calls.task(0, "p=1")));
  }

  /** Those that have a directory in the table. */
  private List<String> jobs() {
    String prefix = "/table/_manifest_";
    return state.paths().stream()
        .filter(path -> path.startsWith(prefix))
        .map(path -> path.substring(prefix.length()).replaceFirst("/.*", ""))
        .distinct()
        .toList();
  }
}
