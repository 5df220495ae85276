// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A job that writes one file to each of so many places, and what it costs until it is over. */
final class GrowthJob {
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
                      && (path.contains("/journal-planned") || path.endsWith("/00/old/0/_SUCCESS"))
                  : end != End.COMMITTED && operation.equals("write") && path.endsWith("/_SUCCESS");
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
    recovery()
        .run(
            recovery().find(spark.table).get(0),
            end == End.RECOVERED_FORWARD ? Direction.COMPLETE : Direction.AS_MARKED);
  }

  private Recovery recovery() {
    return spark.recovery(/* force= */ true);
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

  SparkJobHarness spark() {
    return spark;
  }

  StagingRoot root() {
    return new StagingRoot(spark.table, SparkJobHarness.JOB_ID);
  }
}
