// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.connectors.lakefs.LakeJob.Kind;
import io.manifestcommitter.emulator.FaultRule;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A reader of the branch that looks before every request of a job sees it all, or nothing. */
class LakefsReaderIT {
  @ParameterizedTest
  @EnumSource
  void seesOldOrNew(Kind kind) throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob job = new LakeJob(lake, kind);
      ExecutorService driver = Executors.newSingleThreadExecutor();
      try {
        NavigableMap<String, Long> old = sizes(LakeJob.OLD);
        int looks = 0;
        boolean wasNew = false;
        FaultRule held = hold(job, 1);
        Future<LakeJob> run = driver.submit(job::run);
        while (Waiting.until(held, run)) {
          looks++;
          NavigableMap<String, Long> seen = lake.sizes();
          boolean isNew = !seen.equals(old);
          assertThat(seen).isEqualTo(isNew ? sizes(job.after(LakeJob.OLD)) : old);
          assertThat(wasNew && !isNew).as("the old table after the new one").isFalse();
          assertThat(isNew && lake.hidden().stream().noneMatch("_SUCCESS"::equals)).isFalse();
          wasNew = isNew;
          FaultRule now = held;
          held = hold(job, 1);
          now.release();
        }
        run.get();
        System.out.println(kind + ": " + looks + " looks of a reader");
        assertThat(looks).isGreaterThanOrEqualTo(7);
        assertThat(lake.sizes()).isEqualTo(kind.isHeld() ? old : sizes(job.after(LakeJob.OLD)));
      } finally {
        job.door.faults().clear();
        driver.shutdownNow();
      }
    }
  }

  private static FaultRule hold(LakeJob job, int call) {
    return job.door.faults().add(FaultRule.on(FaultRule.ANY).call(call).hold());
  }

  private static NavigableMap<String, Long> sizes(Map<String, String> contents) {
    NavigableMap<String, Long> sizes = new TreeMap<>();
    contents.forEach((path, content) -> sizes.put(path, (long) content.length()));
    return sizes;
  }
}
