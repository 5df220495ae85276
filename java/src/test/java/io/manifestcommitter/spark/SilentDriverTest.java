// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.journal.Heartbeat.SilentDriverException;
import java.io.IOException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A driver that stands still right before one of its changes, for longer than a heartbeat may be
 * old, and then goes on.
 */
class SilentDriverTest {
  private static final long SILENCE = TimeUnit.SECONDS.toNanos(60);

  @ParameterizedTest
  @CsvSource({
    "abfs,append,off",
    "abfs,append,auto",
    "abfs,static,auto",
    "hdfs,dynamic,auto",
    "gs,append,auto",
    "gs,static,auto"
  })
  void whoIsNotMissedRollsBack(String scheme, String kind, String directoryRename)
      throws IOException {
    int stopped = 0;
    boolean reached = true;
    for (int at = 1; reached; at++) {
      SparkJobHarness spark = new SparkJobHarness(scheme);
      Silence silence = new Silence(() -> spark.state.passTime(60_000));
      SparkJobFaultTest.prepare(spark.clock(silence), kind, directoryRename);
      silence.beginAt(at);
      Optional<Throwable> failure = spark.commitOrAbort();
      reached = silence.isOver();
      String context = String.format("silent before check %d: %s", at, failure);
      if (failure.isEmpty()) {
        assertThat(spark.visible()).as(context).isEqualTo(SparkJobFaultTest.expected(kind));
        continue;
      }
      stopped++;
      assertThat(failure).as(context).containsInstanceOf(IOException.class);
      assertThat(Stream.<Throwable>iterate(failure.get(), Objects::nonNull, Throwable::getCause))
          .as(context)
          .anyMatch(cause -> cause.toString().contains(SilentDriverException.class.getName()));
      assertIsOldOrNew(context, spark, kind);
    }
    assertThat(stopped).isGreaterThan(8);
  }

  /** After what {@code manifest-committer recover} does, without force. */
  private static void assertIsOldOrNew(String context, SparkJobHarness spark, String kind)
      throws IOException {
    spark.state.passTime(60_000);
    spark.recover(Direction.AS_MARKED, /* force= */ false);
    assertThat(spark.visible())
        .as(context)
        .isIn(SparkJobFaultTest.OLD, SparkJobFaultTest.expected(kind));
    boolean isNew = spark.visible().equals(SparkJobFaultTest.expected(kind));
    assertThat(spark.state.files().get("/table/_SUCCESS"))
        .as(context)
        .contains(isNew ? SparkJobHarness.JOB_ID : "the last report");
    assertThat(spark.staging()).as(context).noneMatch(path -> path.contains("/journal-"));
  }

  /** The driver's clock, which is asked before each change and leaps at one of them. */
  private static final class Silence implements LongSupplier {
    private final Runnable meanwhile;
    private int left;
    private long now;

    Silence(Runnable meanwhile) {
      this.meanwhile = meanwhile;
    }

    void beginAt(int check) {
      left = check;
    }

    boolean isOver() {
      return now > 0;
    }

    @Override
    public long getAsLong() {
      if (left > 0 && --left == 0) {
        meanwhile.run();
        now += SILENCE;
      }
      return now;
    }
  }
}
