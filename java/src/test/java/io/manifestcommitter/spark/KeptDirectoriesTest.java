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
import java.io.OutputStream;
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
    assertThat(rows()).hasSize(20);
  }

  @Test
  void aJobThatLivesKeepsItsDirectory() throws IOException {
    SparkCalls living = setUp("living");
    List<TaskCommitMessage> messages = List.of(task(living));

    append("other");
    assertThat(state.files()).containsKey("/table/_manifest_living/heartbeat");

    living.commit(messages);
    assertThat(rows()).hasSize(2);
  }

  @Test
  void anEmptyDirectoryThatCannotBeRemovedFailsNoJob() throws IOException {
    append("job-1");
    state.onRequest(Fault.on("delete", Fate.FAILS_BEFORE, path -> path.contains("job-1")));

    append("job-2");

    assertThat(rows()).hasSize(2);
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
    assertThat(rows()).hasSize(1);
  }

  private void append(String job) throws IOException {
    SparkCalls calls = setUp(job);
    calls.commit(List.of(task(calls)));
  }

  private SparkCalls setUp(String job) throws IOException {
    SparkCalls calls =
        new SparkCalls(new ManifestCommitProtocol(job, table.toString(), false), job, conf);
    calls.setUp();
    return calls;
  }

  private TaskCommitMessage task(SparkCalls calls) throws IOException {
    SparkCalls.Attempt attempt = calls.attempt(0, 0);
    Path file = attempt.newFile("p=1", ".txt");
    try (OutputStream out = file.getFileSystem(conf).create(file)) {
      out.write('1');
    }
    return attempt.commitApproved();
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

  private List<String> rows() {
    return state.files().keySet().stream().filter(path -> path.startsWith("/table/p=1/")).toList();
  }
}
