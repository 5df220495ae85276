// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.connectors.lakefs.LakeJob.Kind;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * For how many requests, one after the other, a driver waits. Told by the time that they take, so
 * not beside other tests.
 */
class LakefsWaitsIT {
  /** More than all else that a job of one file takes, also on a busy machine. */
  private static final Duration LATENCY = Duration.ofSeconds(1);

  /** Since something else may take that long; a request more takes it each time. */
  private static final int ROUNDS = 4;

  @ParameterizedTest
  @CsvSource({"APPEND,6", "STATIC,8", "DYNAMIC,8"})
  void waitsOfAJobOfOneFile(Kind kind, int most) throws Exception {
    long waits = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS && waits > most; round++) {
      try (Lake lake = Lake.with(LakeJob.OLD)) {
        LakeJob job = new LakeJob(lake, kind);
        job.door.latency(LATENCY);
        long begun = System.nanoTime();
        job.setUp();
        long setUp = System.nanoTime() - begun;
        job.runTask(0, "p=1");
        begun = System.nanoTime();
        job.commit();
        long all = setUp + System.nanoTime() - begun;
        waits = Math.min(waits, all / LATENCY.toNanos());
        System.out.println(
            kind + " of one file: " + waits + " waits of " + LakefsRequestsIT.told(job));
      }
    }
    assertThat(waits).isLessThanOrEqualTo(most);
  }
}
