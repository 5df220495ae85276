// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Drivers that die at every request of a job commit, and everything that may come after, as {@code
 * docs/evidence/crashes.md} tells it. A sample by default; {@code -Dcrashes.mode=full} runs all.
 */
@Tag("sample")
class CrashTest {
  /** What a full run has to reach. */
  private static final int LEAST = 10_000;

  private final Cases cases = Cases.fromProperties("crashes");

  @Test
  void noRowIsLostOrDoubledWheneverADriverDies() throws IOException {
    CrashTally tally = new CrashTally(cases);
    for (ReaderWrite each : ReaderWrite.ALL) {
      String write = each.name();
      List<CrashStore> stores = CrashStore.all("abfs", "hdfs", "gs", MemoryFileSystem.GS_FOLDERS);
      stores.addAll(CrashStore.byFile("s3a"));
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
    System.out.println(tally.table());
    assertThat(tally.violations()).isEmpty();
    if (!cases.isNamed()) {
      assertThat(tally.injected()).isGreaterThan(cases.isFull() ? LEAST : LEAST / 50);
      for (CrashTally.Count outcome : CrashTally.Count.values()) {
        assertThat(tally.sum(outcome)).as("%s", outcome).isPositive();
      }
    }
  }
}
