// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static io.manifestcommitter.trials.PairWrite.APPEND;
import static io.manifestcommitter.trials.PairWrite.APPEND_ELSEWHERE;
import static io.manifestcommitter.trials.PairWrite.APPEND_LOCATION;
import static io.manifestcommitter.trials.PairWrite.APPEND_NEW;
import static io.manifestcommitter.trials.PairWrite.APPEND_ROOT;
import static io.manifestcommitter.trials.PairWrite.DYNAMIC;
import static io.manifestcommitter.trials.PairWrite.DYNAMIC_ELSEWHERE;
import static io.manifestcommitter.trials.PairWrite.DYNAMIC_LOCATION;
import static io.manifestcommitter.trials.PairWrite.DYNAMIC_NEW;
import static io.manifestcommitter.trials.PairWrite.DYNAMIC_OVERLAPPING;
import static io.manifestcommitter.trials.PairWrite.PARTITION;
import static io.manifestcommitter.trials.PairWrite.REPLACE;
import static io.manifestcommitter.trials.PairWrite.STATIC;
import static io.manifestcommitter.trials.PairWrite.STATIC_ROOT;
import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.NoHeartbeatLeft;
import io.manifestcommitter.trials.PairMeeting.What;
import io.manifestcommitter.trials.PairParty.PairHadoopJob;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Two that work on one table at the same time, in random orders of their requests, as {@code
 * docs/evidence/pairs.md} tells it. A sample by default; {@code -Dpairs.mode=full} runs all.
 */
@ExtendWith(NoHeartbeatLeft.class)
@Timeout(3600)
class PairTest {
  /** Of how many interleavings a sample takes one. */
  private static final int SAMPLE = 60;

  private static final PairWrite[][] PAIRS = {
    {APPEND, APPEND},
    {APPEND, APPEND_ELSEWHERE},
    {APPEND_NEW, APPEND_NEW},
    {APPEND_ROOT, APPEND_ROOT},
    {APPEND_LOCATION, APPEND_LOCATION},
    {APPEND, DYNAMIC},
    {APPEND_NEW, DYNAMIC_NEW},
    {APPEND, STATIC},
    {APPEND_NEW, STATIC},
    {APPEND, PARTITION},
    {APPEND, REPLACE},
    {APPEND_NEW, REPLACE},
    {APPEND_LOCATION, DYNAMIC_LOCATION},
    {APPEND_ROOT, STATIC_ROOT},
    {DYNAMIC, DYNAMIC},
    {DYNAMIC, DYNAMIC_OVERLAPPING},
    {DYNAMIC, DYNAMIC_ELSEWHERE},
    {DYNAMIC_NEW, DYNAMIC_NEW},
    {DYNAMIC_LOCATION, DYNAMIC_LOCATION},
    {STATIC, STATIC},
    {STATIC, DYNAMIC},
    {STATIC_ROOT, STATIC_ROOT},
    {PARTITION, PARTITION},
    {PARTITION, DYNAMIC},
    {REPLACE, REPLACE},
    {REPLACE, STATIC}
  };

  /** Ours, and that of the other committer. */
  private static final PairWrite[][] FOREIGN = {
    {APPEND, APPEND}, {APPEND_NEW, APPEND_NEW}, {DYNAMIC, APPEND}, {STATIC, APPEND}
  };

  /** That of the dead driver, and the other one. */
  private static final PairWrite[][] MEETINGS = {
    {APPEND, APPEND},
    {APPEND, DYNAMIC},
    {APPEND_NEW, STATIC},
    {DYNAMIC, APPEND},
    {DYNAMIC, DYNAMIC_OVERLAPPING},
    {DYNAMIC, DYNAMIC_ELSEWHERE},
    {STATIC, STATIC},
    {STATIC, PARTITION}
  };

  private static final PairWrite[][] RECOVERIES = {
    {APPEND_NEW, APPEND}, {DYNAMIC, APPEND}, {STATIC, APPEND}
  };

  private final Cases cases = Cases.fromProperties("pairs");

  @Test
  void noRowIsLostOrMixedWhateverTheOrder() throws InterruptedException, IOException {
    CaseTally<Count> tally = new CaseTally<>(cases, Count.class, "pair");
    for (PairWrite[] pair : PAIRS) {
      tally.enter(pair[0].label() + " / " + pair[1].label());
      for (CrashStore store : stores()) {
        new PairRuns(store, pair[0], pair[1], cases, tally).run(SAMPLE);
      }
    }
    foreign(tally);
    meetings(tally);
    System.out.println(
        tally.table(
            String.format(
                Locale.ROOT, "Pairs: %,d interleavings", tally.sum(Count.INTERLEAVINGS))));
    assertThat(tally.violations()).isEmpty();
    if (!cases.isNamed()) {
      for (Count outcome : Count.values()) {
        // The rarest one, which a sample may not meet.
        if (outcome != Count.REFUSED || cases.isFull()) {
          assertThat(tally.sum(outcome)).as("%s", outcome).isPositive();
        }
      }
    }
  }

  private void foreign(CaseTally<Count> tally) throws InterruptedException, IOException {
    for (PairHadoopJob.Kind kind : PairHadoopJob.Kind.values()) {
      for (PairWrite[] pair : FOREIGN) {
        tally.enter(pair[0].label() + " / " + kind.label());
        for (CrashStore store : storesWithRenames()) {
          new PairForeign(store, pair[0], pair[1], kind, cases, tally).run(SAMPLE);
        }
      }
    }
  }

  private void meetings(CaseTally<Count> tally) throws InterruptedException, IOException {
    for (What what : What.values()) {
      for (PairWrite[] pair : what == What.TWO_RECOVERIES ? RECOVERIES : MEETINGS) {
        tally.enter(PairMeeting.label(what, pair[0], pair[1]));
        for (CrashStore store : stores()) {
          new PairMeeting(store, pair[0], pair[1], what, cases, tally).run(SAMPLE);
        }
      }
    }
  }

  /** Others write to the rest through S3A's committers. */
  private static List<CrashStore> storesWithRenames() {
    List<CrashStore> stores = stores();
    stores.removeIf(CrashStore::isUploaded);
    return stores;
  }

  private static List<CrashStore> stores() {
    List<CrashStore> stores = CrashStore.all("abfs", "hdfs", "gs", MemoryFileSystem.GS_FOLDERS);
    stores.removeIf(store -> !store.renamesDirectories() && !store.scheme().equals("abfs"));
    stores.addAll(CrashStore.byFile("s3a", MemoryFileSystem.S3_CONDITIONAL));
    stores.removeIf(store -> !store.marksSuccess());
    return stores;
  }

  /** What is counted. */
  enum Count {
    INTERLEAVINGS,
    /** A party waited for the other one. */
    WAITED,
    BOTH_ENDED,
    /** Of these, the table is as one order makes it and the other does not. */
    FIRST_LAST,
    SECOND_LAST,
    /** A job failed by itself, or was made to. */
    FAILED,
    DIED,
    /** It was taken for dead while it lived, and could not end its commit. */
    TAKEN_OVER,
    /** A recovery left a place for a human to decide. */
    REFUSED
  }
}
