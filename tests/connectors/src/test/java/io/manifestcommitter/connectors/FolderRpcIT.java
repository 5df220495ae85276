// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.cli.Clean;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.spark.ManifestCommitProtocol;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkCalls;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Where Google's connector speaks gRPC: it renames and deletes the folders of a bucket with
 * hierarchical namespace by it, at an endpoint of its own. The committer does without.
 */
class FolderRpcIT {
  private static final String ENDPOINT = "storage.googleapis.com:443";

  private GcsEmulator emulator;
  private Configuration conf;
  private Path table;

  @BeforeEach
  void start() throws IOException {
    emulator = GcsEmulator.startHierarchical();
    conf = EmulatedStore.conf(emulator);
    conf.setBoolean("fs.gs.impl.disable.cache", true);
    // As the connector has it by default.
    conf.setBoolean("fs.gs.hierarchical.namespace.folders.enable", true);
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "1h");
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "3h");
    table = new Path(emulator.root().toString(), "table");
  }

  @AfterEach
  void stop() {
    emulator.close();
  }

  /** The connector tries for most of a minute. */
  @Test
  void byFileSystemCallsAndWithoutGrpcTheErrorNamesEndpointAndSetting() throws IOException {
    conf.set(CommitterConfig.GS_REQUESTS, "filesystem");
    try (ConnectProxy proxy = ConnectProxy.refusing()) {
      write("staging/p=1/f");

      assertThatThrownBy(() -> new Stores(conf).all().deleteTree(new Path(table, "staging")))
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll(
              table + "/staging", ENDPOINT, "fs.gs.hierarchical.namespace.folders.enable");
      assertThat(proxy.asked()).isNotEmpty().containsOnly(ENDPOINT);
    }
  }

  @Test
  void theCommitterDoesWithoutGrpc() throws Exception {
    try (ConnectProxy proxy = ConnectProxy.refusing()) {
      commit(written(false, "p=1", "p=2"));
      commit(written(true, "p=2", "p=3"));
      assertThat(visible()).containsExactly("p=1", "p=2", "p=3");

      // A driver that dies in its commit, which is rolled back, and one that never came so far.
      Written dead = written(true, "p=3");
      // After the seal and the old data: what publishes, and what would take all of that back.
      emulator.faults().add(FaultRule.on("folder-rename").call(3).always().refuse(403));
      emulator.faults().add(FaultRule.on("move").path("table/p=3/").always().refuse(403));
      assertThatThrownBy(() -> commit(dead)).hasRootCauseInstanceOf(IOException.class);
      emulator.faults().clear();
      assertThat(Recoveries.all(Recoveries.of(conf, true), table, Recovery.Direction.AS_MARKED))
          .contains(Outcome.ROLLED_BACK);
      assertThat(visible()).containsExactly("p=1", "p=2", "p=3");
      Written abandoned = written(false, "p=4");
      Clean.ofSession(conf, table.toString(), "0s", false, true, true);
      assertThat(TableFiles.staging(table.getFileSystem(conf), table)).isEmpty();
      assertThat(abandoned.messages).hasSize(1);

      HadoopProtocolJob job = HadoopProtocolJob.into(new Path(table.getParent(), "other"), conf);
      job.setupJob();
      job.write(0, "p=1/f", "content".getBytes(StandardCharsets.UTF_8));
      job.commitTask(0, 0);
      job.commitJob();
      Written aborted = written(false, "p=5");
      aborted.job.abort();

      assertThat(emulator.log().counts())
          .containsKeys("folder-rename", "folder-delete", "folder-list");
      assertThat(proxy.asked()).isEmpty();
    }
  }

  private void write(String name) throws IOException {
    new Stores(conf).all().write(new Path(table, name), out -> out.write(1));
  }

  private Written written(boolean isDynamic, String... partitions) throws IOException {
    String id = UUID.randomUUID().toString();
    SparkCalls job =
        new SparkCalls(new ManifestCommitProtocol(id, table.toString(), isDynamic), id, conf);
    job.setUp();
    SparkCalls.Attempt attempt = job.attempt(0, 0);
    for (String partition : partitions) {
      TableFiles.write(table.getFileSystem(conf), attempt.newFile(partition, ".txt"), "content");
    }
    List<TaskCommitMessage> messages = new ArrayList<>();
    messages.add(attempt.message());
    return new Written(job, messages);
  }

  private static void commit(Written written) {
    written.job.commit(written.messages);
  }

  /** The partitions in which there are files. */
  private List<String> visible() throws IOException {
    List<String> partitions = new ArrayList<>();
    for (String name : TableFiles.visible(table.getFileSystem(conf), table).keySet()) {
      if (!name.endsWith("/")) {
        partitions.add(name.substring(0, name.indexOf('/')));
      }
    }
    return partitions;
  }

  /** A job whose tasks are done. */
  private static final class Written {
    private final SparkCalls job;
    private final List<TaskCommitMessage> messages;

    Written(SparkCalls job, List<TaskCommitMessage> messages) {
      this.job = job;
      this.messages = messages;
    }
  }
}
