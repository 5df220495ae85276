// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.spark.GrowthTest.GrowthJob.End;
import io.manifestcommitter.spark.GrowthTest.GrowthJob.Places;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What grows with the places that a job writes to, and what may not. */
class GrowthTest {
  private static final int FEW = 150;

  /** What a commit may cost besides, such as one more look at a journal. */
  private static final int SLACK = 10;

  private static List<Arguments> allEnds() {
    List<Arguments> all = new ArrayList<>();
    for (Places places : Places.values()) {
      for (End end : End.values()) {
        all.add(Arguments.of(places, end));
      }
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("allEnds")
  void twiceThePlacesTakeTwiceTheRequestsAndNoMoreOfThemWait(Places places, End end)
      throws IOException {
    GrowthJob few = new GrowthJob(places, FEW);
    few.run(end);
    int requests = few.requests();
    int inSequence = few.inSequence();

    GrowthJob twice = new GrowthJob(places, 2 * FEW);
    twice.run(end);

    System.out.printf(
        "%s, %s: %d places take %d requests, %d of them one after the other; %d take %d and %d%n",
        places, end, FEW, requests, inSequence, 2 * FEW, twice.requests(), twice.inSequence());
    assertThat(twice.requests()).isLessThanOrEqualTo(2 * requests + SLACK);
    assertThat(twice.inSequence()).isLessThanOrEqualTo(inSequence + SLACK);
  }

  /** Eight times the places: what grows with their square takes 64 times as long. */
  @Tag("sample")
  @ParameterizedTest
  @CsvSource({
    "NEW,ROLLED_BACK",
    "REPLACED,RECOVERED_BACK",
    "REPLACED_LOCATIONS,COMMITTED",
    "REPLACED_LOCATIONS,RECOVERED_BACK"
  })
  void eightTimesThePlacesDoNotTakeSixteenTimesTheCpu(Places places, End end) throws IOException {
    cpuMillis(places, end, 100);
    long few = cpuMillis(places, end, 400);
    long many = cpuMillis(places, end, 3200);

    System.out.printf(
        "%s, %s: 400 places take %d ms of CPU, 3,200 take %d ms%n", places, end, few, many);
    assertThat(many).isLessThan(16 * Math.max(few, 50));
  }

  /** Each attempt marks each location that it writes to, and of all that hardly any is read. */
  @ParameterizedTest
  @CsvSource({"true,0", "false,40"})
  void ofManyMarksOneIsReadForEachLocationThatNoMessageNames(boolean isCommitted, int reads)
      throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").setUp(TableWrite.append());
    for (int task = 0; task < 50; task++) {
      for (int location = 0; location < 40; location++) {
        spark.commitTaskAt(40 * task + location, "/elsewhere/p=" + location, "f" + task);
      }
    }
    spark.state.resetRequests();

    if (isCommitted) {
      spark.commit();
    } else {
      spark.job().abort();
    }

    assertThat(spark.state.requests())
        .filteredOn(request -> request.startsWith("open ") && request.contains("/locations/"))
        .hasSize(reads);
    assertThat(spark.visible()).hasSize(isCommitted ? 2000 : 0);
    assertThat(spark.staging()).isEmpty();
  }

  private static long cpuMillis(Places places, End end, int count) throws IOException {
    GrowthJob job = new GrowthJob(places, count);
    com.sun.management.OperatingSystemMXBean process =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long before = process.getProcessCpuTime();
    job.run(end);
    return (process.getProcessCpuTime() - before) / 1_000_000;
  }

  /** A job that writes one file to each of so many places, and what it costs until it is over. */
  static final class GrowthJob {
    private static final String WORKERS = "io.manifestcommitter.commit.Workers$Run";

    private final SparkJobHarness spark = new SparkJobHarness("abfs");
    private final AtomicInteger inSequence = new AtomicInteger();

    /** Where a job writes to. */
    enum Places {
      NEW,
      NEW_IN_ONE,
      REPLACED,
      LOCATIONS,
      REPLACED_LOCATIONS
    }

    /** How a commit ends. */
    enum End {
      COMMITTED,
      ROLLED_BACK,
      RECOVERED_BACK,
      RECOVERED_FORWARD,
      COMPLETED
    }

    /** A job whose tasks have committed. */
    GrowthJob(Places places, int count) throws IOException {
      boolean isReplaced = places == Places.REPLACED || places == Places.REPLACED_LOCATIONS;
      boolean isLocation = places == Places.LOCATIONS || places == Places.REPLACED_LOCATIONS;
      String[] names = new String[count];
      List<String> overwritten = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        names[i] = (places == Places.NEW_IN_ONE ? "a=1/p=" : "p=") + i;
        if (isReplaced) {
          String place = (isLocation ? "/elsewhere/" : "/table/") + names[i];
          spark.state.write(place + "/old", "old");
          overwritten.add(place);
        }
      }
      spark.setUp(TableWrite.replacing(overwritten.toArray(new String[0])));
      if (isLocation) {
        for (int i = 0; i < count; i++) {
          spark.commitTaskAt(i, "/elsewhere/" + names[i], "f");
        }
      } else {
        for (int i = 0; i < count; i++) {
          names[i] += "/f";
        }
        spark.commitTask(0, names);
      }
    }

    /** Commits it, and recovers it if it was left. */
    void run(End end) throws IOException {
      boolean[] down = {false};
      spark.state.onRequest(
          (number, operation, path) -> {
            boolean isSign =
                end == End.COMPLETED
                    ? operation.equals("rename")
                        && (path.contains("/journal-planned")
                            || path.endsWith("/00/old/0/_SUCCESS"))
                    : end != End.COMMITTED
                        && operation.equals("write")
                        && path.endsWith("/_SUCCESS");
            if (isSign && !down[0]) {
              down[0] = end != End.ROLLED_BACK;
              return end == End.COMPLETED ? Fate.FAILS_AFTER : Fate.FAILS_BEFORE;
            }
            return down[0] ? Fate.FAILS_BEFORE : Fate.NORMAL;
          });
      count();
      try {
        spark.commit();
      } catch (IOException e) {
        if (end == End.COMMITTED) {
          throw e;
        }
      }
      if (end != End.COMMITTED) {
        spark.job().abort();
      }
      if (end == End.COMMITTED || end == End.ROLLED_BACK) {
        return;
      }
      spark.state.noFault();
      count();
      Direction to = end == End.RECOVERED_FORWARD ? Direction.COMPLETE : Direction.AS_MARKED;
      assertThat(spark.recover(to, /* force= */ true)).hasSize(1);
    }

    private void count() {
      spark.state.resetRequests();
      inSequence.set(0);
      spark.state.gate(
          (client, operation, path) -> {
            if (!isInParallel()) {
              inSequence.incrementAndGet();
            }
          });
    }

    private static boolean isInParallel() {
      return StackWalker.getInstance()
          .walk(frames -> frames.anyMatch(frame -> frame.getClassName().equals(WORKERS)));
    }

    /** The requests of the commit; of the recovery, where there was one. */
    int requests() {
      return spark.state.requests().size();
    }

    /** Those that a step did not make in parallel. */
    int inSequence() {
      return inSequence.get();
    }
  }
}
