// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.connectors.lakefs.LakeJob.Kind;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.RequestLog;
import io.manifestcommitter.testing.Cases;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How many requests a job makes to lakeFS: by files, and by nothing else. With 2,000 files by
 * {@code -Dlakefs.mode=full}, else with fewer.
 */
@Execution(ExecutionMode.CONCURRENT)
class LakefsRequestsIT {
  private static final String BEAT = "-beat/heartbeat";

  private static final int FILES = Cases.fromProperties("lakefs").isFull() ? 2_000 : 400;

  @Test
  void anAppendOfManyFiles() throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob job = run(lake, Kind.APPEND, 50);

      assertThat(count(job.tasks.log()) + count(lake.s3().log())).isEqualTo(3L * FILES);
      assertThat(count(job.door.log())).as("job commit: %s", told(job)).isBetween(7L, 12L);
      assertThat(lake.sizes()).hasSize(LakeJob.OLD.size() + FILES);
    }
  }

  @Test
  void anOverwriteOfManyFiles() throws Exception {
    NavigableMap<String, String> old = new TreeMap<>();
    for (int file = 0; file < FILES; file++) {
      old.put("p=" + file % 50 + "/old-" + file, "old");
    }
    try (Lake lake = Lake.with(old)) {
      LakeJob job = run(lake, Kind.STATIC, 50);

      // Besides those of an append: listing, deletion and difference of a thousand old files.
      assertThat(count(job.door.log()))
          .as("job commit: %s", told(job))
          .isLessThanOrEqualTo(12L + 3 * (FILES + 999) / 1_000);
      assertThat(lake.contents()).isEqualTo(job.rows());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"APPEND", "DYNAMIC"})
  void partitionsCostNothing(Kind kind) throws Exception {
    long[] requests = new long[2];
    for (int round = 0; round < 2; round++) {
      try (Lake lake = Lake.with(LakeJob.OLD)) {
        LakeJob job = run(lake, kind, round == 0 ? 50 : 400);
        requests[round] = count(job.door.log());
      }
    }
    assertThat(requests[1]).isEqualTo(requests[0]);
  }

  /** The server is too busy for every request, several times in a row. */
  @ParameterizedTest
  @CsvSource({"APPEND,429", "APPEND,503", "STATIC,429", "STATIC,503", "HELD,503"})
  void aBusyServerIsWaitedFor(Kind kind, int status) throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      LakeJob job = new LakeJob(lake, kind);
      for (var door : List.of(job.door, job.tasks)) {
        for (int at = 1; at < 100; at += 5) {
          door.faults().add(FaultRule.on(FaultRule.ANY).call(at).times(3).refuse(status));
        }
      }

      job.run();

      assertThat(lake.contents()).isEqualTo(kind.isHeld() ? LakeJob.OLD : job.after(LakeJob.OLD));
      assertThat(job.door.log().entries()).anyMatch(RequestLog.Entry::faulted);
    }
  }

  /** Without presigned URLs, objects are written by the cluster's own filesystem. */
  @Test
  void withoutPresignedUrls() throws Exception {
    try (Lake lake = Lake.with(LakeJob.OLD)) {
      lake.server().without("pre_sign_support", "pre_sign_multipart_upload");

      LakeJob job = new LakeJob(lake, Kind.DYNAMIC).run();

      assertThat(lake.contents()).isEqualTo(job.after(LakeJob.OLD));
    }
  }

  private static LakeJob run(Lake lake, Kind kind, int partitions) throws Exception {
    LakeJob job = new LakeJob(lake, kind, Map.of());
    FaultRule beat = job.door.faults().add(FaultRule.on("put").path(BEAT).hold());
    job.setUp();
    String[] names = new String[partitions];
    for (int partition = 0; partition < partitions; partition++) {
      names[partition] = "p=" + partition;
    }
    // The setup does not wait for the first sign of life, nor for the branch that is made for it.
    beat.awaitHeld();
    beat.release();
    lake.s3().log().clear();
    String setUp = told(job);
    job.door.log().clear();
    for (int task = 0; task < FILES / partitions; task++) {
      job.runTask(task, names);
    }
    long ofTasks = count(lake.s3().log());
    job.commit();
    System.out.println(
        setUp
            + " requests of the setup of "
            + kind
            + ", "
            + partitions
            + " partitions, driver: "
            + told(job)
            + "; tasks: "
            + job.tasks.log().counts()
            + ", uploads "
            + ofTasks);
    return job;
  }

  /** The requests of a driver. */
  static String told(LakeJob job) {
    return job.door.log().entries().size() + " " + job.door.log().counts();
  }

  /** All but the signs of life: how many these are depends on how long a job takes. */
  private static long count(RequestLog log) {
    return log.entries().stream().filter(request -> !isBeat(request)).count();
  }

  private static boolean isBeat(RequestLog.Entry request) {
    return request.path().endsWith(BEAT);
  }
}
