// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.NoHeartbeatLeft;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Drivers that die at every request of a job commit, and everything that may come after, as {@code
 * docs/evidence/crashes.md} tells it. A sample by default; {@code -Dcrashes.mode=full} runs all.
 */
@ExtendWith(NoHeartbeatLeft.class)
class CrashTest {
  /** What a full run has to reach. */
  private static final int LEAST = 10_000;

  private final Cases cases = Cases.fromProperties("crashes");

  @Test
  void noRowIsLostOrDoubledWheneverADriverDies() throws IOException {
    CaseTally<Count> tally = new CaseTally<>(cases, Count.class, "scenario", "store");
    for (ReaderWrite each : ReaderWrite.ALL) {
      String write = each.name();
      List<CrashStore> stores = CrashStore.all("abfs", "hdfs", "gs", MemoryFileSystem.GS_FOLDERS);
      stores.addAll(CrashStore.byFile("s3a", MemoryFileSystem.S3_CONDITIONAL));
      for (CrashStore store : stores) {
        if (cases.begins(store + "/" + write, 6)) {
          tally.enter(write, store.kind());
          new CrashSparkRuns(store, each, cases, tally).run(12);
        }
      }
    }
    for (ReaderWrite each : ReaderWrite.ALL) {
      String write = each.name();
      for (CrashStore store : CrashStore.holdingOld()) {
        if (!each.table().isAppend() && cases.begins(store + "/" + write, 8)) {
          tally.enter(write, store.kind());
          new CrashSparkRuns(store, each, cases, tally).run(40);
        }
      }
    }
    for (String protocol : List.of("hadoop", "hadoop-replace")) {
      for (CrashStore store : CrashStore.byFile("abfs", "hdfs", "gs")) {
        if (cases.begins(store + "/" + protocol, 1)) {
          tally.enter(protocol, store.kind());
          boolean replaces = protocol.endsWith("replace");
          new CrashHadoopRuns(store, protocol, replaces, cases, tally).run(10);
        }
      }
    }
    int injected = tally.sum(Count.DIED, Count.DIED_IN_RECOVERY);
    int runs =
        tally.sum(Count.values()) - tally.sum(Count.STATES, Count.OLD, Count.NEW, Count.REFUSED);
    System.out.println(
        tally.table(
            String.format(Locale.ROOT, "Crashes: %,d processes died, %,d runs", injected, runs)));
    assertThat(tally.violations()).isEmpty();
    if (!cases.isNamed()) {
      assertThat(injected).isGreaterThan(cases.isFull() ? LEAST : LEAST / 50);
      for (Count outcome : Count.values()) {
        assertThat(tally.sum(outcome)).as("%s", outcome).isPositive();
      }
    }
  }

  /** What is counted. */
  enum Count {
    /** Drivers that died in a job commit. */
    DIED,
    /** Different stores that they left. */
    STATES,
    RECOVER,
    COMPLETE,
    /** Recoveries that died, each followed by another one. */
    DIED_IN_RECOVERY,
    RECOVER_AGAIN,
    RUN_AGAIN,
    /** The same within a minute, while the dead one's heartbeat may be fresh. */
    RESTARTED,
    /** Recoveries and second runs of a table that was renamed after the death. */
    RENAMED,
    OTHER_JOB_THEN_RECOVER,
    /** Drivers that lived on when the store had no room any more. */
    MET_SHORTAGE,
    /** Cleanings while the store had no room. */
    CLEANED,
    OLD,
    NEW,
    REFUSED
  }
}
