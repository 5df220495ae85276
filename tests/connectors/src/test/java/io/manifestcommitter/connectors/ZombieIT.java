// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.spark.ZombieTrial;
import io.manifestcommitter.spark.ZombieTrial.Kind;
import io.manifestcommitter.spark.ZombieTrial.Moment;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Attempts that Spark gave up on and that go on writing through a real connector, while the store
 * holds one request of the job commit after the other.
 */
class ZombieIT {
  @AfterEach
  void answerAsBefore() {
    EmulatedStore.abfs().faults().clear();
    EmulatedStore.gcs().faults().clear();
  }

  /** A stream whose file the seal has taken away is at its end. */
  @ParameterizedTest
  @CsvSource({
    "APPEND,auto", "APPEND,off",
    "STATIC,auto", "STATIC,off",
    "DYNAMIC,auto", "DYNAMIC,off"
  })
  void whatTheyWriteToAbfsNeverBecomesVisible(Kind kind, String directoryRename) throws Exception {
    ZombieTrial trial =
        run(EmulatedStore.ABFS, "rename", Set.of(Moment.values()), kind, directoryRename);
    assertThat(trial.refused()).as("streams that ended").isPositive();
  }

  /**
   * No directory is renamed there: an object is where its upload began. What was flushed is a part
   * of it, and clean-up deletes it.
   */
  @ParameterizedTest
  @CsvSource({"APPEND,auto", "STATIC,auto", "DYNAMIC,auto"})
  void whatTheyWriteToGsNeverBecomesVisible(Kind kind, String directoryRename) throws Exception {
    Set<Moment> moments = EnumSet.complementOf(EnumSet.of(Moment.SEAL));
    run(EmulatedStore.GS, "move", moments, kind, directoryRename);
  }

  /** Whole folders are renamed; what is uploaded into one that moved away makes it anew. */
  @ParameterizedTest
  @CsvSource({"STATIC", "DYNAMIC"})
  void whatTheyWriteToFoldersOfGsNeverBecomesVisible(Kind kind) throws Exception {
    run(
        EmulatedStore.GS_FOLDERS,
        "folder-rename",
        EnumSet.of(Moment.SEAL, Moment.PUBLISH),
        kind,
        "auto");
  }

  private static ZombieTrial run(
      EmulatedStore store, String rename, Set<Moment> moments, Kind kind, String directoryRename)
      throws Exception {
    Configuration conf = store.conf();
    // Many files are open at once.
    conf.set("fs.azure.write.request.size", "16384");
    conf.set("fs.gs.outputstream.buffer.size", "65536");
    conf.set("fs.gs.outputstream.pipe.buffer.size", "65536");
    conf.set("fs.gs.outputstream.upload.chunk.size", "262144");
    ZombieTrial trial = new ZombieTrial(conf, store.newRoot("zombie"), kind, directoryRename);
    Map<Moment, FaultRule> rules = new EnumMap<>(Moment.class);
    for (Moment moment : moments) {
      String path = moment.destination(trial.table());
      rules.put(moment, store.emulator().faults().add(FaultRule.on(rename).path(path).hold()));
    }
    ExecutorService driver = Executors.newSingleThreadExecutor();
    try {
      Future<?> job = driver.submit(trial::commit);
      for (Map.Entry<Moment, FaultRule> rule : rules.entrySet()) {
        rule.getValue().awaitHeld();
        trial.at(rule.getKey());
        rule.getValue().release();
      }
      job.get();
    } finally {
      driver.shutdownNow();
    }
    trial.end();
    assertThat(trial.begun()).isEqualTo((moments.size() + 2) * 5);
    return trial;
  }
}
