// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkWrite;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A driver that dies while the store renames a folder for it, which the store goes on with. */
class FolderRecoveryIT {
  private static final Map<String, String> OLD = Map.of("p=1/old", "old", "p=2/old", "old");

  private final ExecutorService driver = Executors.newSingleThreadExecutor();
  private final ExecutorService recovery = Executors.newSingleThreadExecutor();
  private GcsEmulator emulator;
  private Configuration conf;
  private Path table;

  @BeforeEach
  void start() throws IOException {
    emulator = GcsEmulator.startHierarchical();
    conf = EmulatedStore.conf(emulator);
    conf.setBoolean("fs.gs.impl.disable.cache", true);
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    table = new Path(emulator.root().toString(), "table");
  }

  @AfterEach
  void stop() {
    emulator.releaseRenames();
    driver.shutdownNow();
    recovery.shutdownNow();
    emulator.close();
  }

  /** It may be the one that seals, that moves old data aside, or that publishes. */
  @ParameterizedTest
  @CsvSource({"2,AS_MARKED", "3,AS_MARKED", "4,AS_MARKED", "2,COMPLETE", "3,COMPLETE"})
  void recoveryWaitsForTheRenameAndThenGoesOn(int rename, Recovery.Direction direction)
      throws Exception {
    FileSystem fs = table.getFileSystem(conf);
    for (Map.Entry<String, String> old : OLD.entrySet()) {
      TableFiles.write(fs, new Path(table, old.getKey()), old.getValue());
    }
    SparkWrite job = SparkWrite.dynamicOverwrite(conf, table).task(0, "p=1", "p=2");
    emulator.log().clear();
    Future<?> commit = driver.submit(job::commit);
    FaultRule poll = holdRename(rename);
    // As good as dead: it reaches the store no more, and cannot tell that its rename goes on.
    emulator.faults().add(FaultRule.on(FaultRule.ANY).always().refuse(403));
    poll.release();
    assertThatThrownBy(() -> commit.get(1, TimeUnit.MINUTES))
        .hasRootCauseInstanceOf(IOException.class);
    emulator.faults().clear();
    FaultRule look = emulator.faults().add(FaultRule.on("operation-list").call(2).hold());

    Future<List<Outcome>> recovering =
        recovery.submit(() -> Recoveries.all(Recoveries.of(conf, true), table, direction));
    look.awaitHeld();
    emulator.releaseRenames();
    look.release();
    List<Outcome> outcomes = recovering.get(1, TimeUnit.MINUTES);

    boolean isCompleted = direction == Recovery.Direction.COMPLETE;
    assertThat(outcomes).containsExactly(isCompleted ? Outcome.COMPLETED : Outcome.ROLLED_BACK);
    NavigableMap<String, String> visible = TableFiles.visible(fs, table);
    visible.keySet().removeIf(name -> name.endsWith("/"));
    assertThat(visible).isEqualTo(isCompleted ? job.after(OLD) : OLD);
    assertThat(TableFiles.staging(fs, table)).isEmpty();
  }

  /**
   * Lets the renames before this one pass, and this one run on.
   *
   * @return what holds the driver's next look at it
   */
  private FaultRule holdRename(int number) throws Exception {
    FaultRule reached = emulator.faults().add(FaultRule.on("folder-rename").call(number).hold());
    FaultRule poll = emulator.faults().add(FaultRule.on("operation").hold());
    reached.awaitHeld();
    emulator.holdRenames();
    reached.release();
    poll.awaitHeld();
    return poll;
  }
}
