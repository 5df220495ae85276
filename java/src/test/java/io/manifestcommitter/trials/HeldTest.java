// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.HeldJobs;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.spark.DriverJob;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import io.manifestcommitter.testing.NoHeartbeatLeft;
import io.manifestcommitter.testing.Recoveries;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A driver that holds a job, or a process that publishes or discards it, dies at each request, or a
 * request fails. Then the table is as it was, or has all of the job's data. A job that is still
 * held can be published or discarded. A sample by default; {@code -Dheld.mode=full} runs all.
 */
@ExtendWith(NoHeartbeatLeft.class)
@Tag("sample")
class HeldTest {
  /** What a full run has to reach, by far. */
  private static final int LEAST = 2_000;

  private final Cases cases = Cases.fromProperties("held");
  private final CaseTally<Count> tally = new CaseTally<>(cases, Count.class, "scenario", "store");

  @Test
  void aHeldJobIsAllOrNothingWhateverDies() throws IOException {
    for (ReaderWrite write : ReaderWrite.ALL) {
      for (CrashStore store : stores()) {
        String steps = store + "/" + write.name();
        if (!write.name().startsWith("location") && cases.begins(steps, 4)) {
          tally.enter(write.name(), store.kind());
          new Trial(store, write).run(steps);
        }
      }
    }
    System.out.println(tally.table("Held: deaths and faults of who holds, publishes and discards"));
    assertThat(tally.violations()).isEmpty();
    if (!cases.isNamed()) {
      assertThat(tally.sum(Count.STILL_HELD)).isPositive();
      assertThat(tally.sum(Count.PUBLISHED)).isGreaterThan(cases.isFull() ? LEAST : LEAST / 50);
    }
  }

  private static List<CrashStore> stores() {
    List<CrashStore> stores = CrashStore.all("abfs", "hdfs", "gs", MemoryFileSystem.GS_FOLDERS);
    stores.addAll(CrashStore.byFile("s3a"));
    return stores;
  }

  /** One kind of write on one store. */
  private final class Trial {
    private final CrashStore store;
    private final ReaderWrite write;
    private final Map<String, String> before;
    private final Map<String, String> after;

    Trial(CrashStore store, ReaderWrite write) {
      this.store = store;
      this.write = write;
      this.before = write.old();
      this.after = write.by(DriverJob.DEAD_WORD).after(write.old());
    }

    void run(String steps) throws IOException {
      store.fill(write);
      DriverJob job = job();
      job.runTasks();
      Snapshot ran = store.state().snapshot();
      job.commit();
      require(isHeld() && isBefore(), steps, "the job is not held: " + store.files().keySet());
      Snapshot held = store.state().snapshot();
      for (Step step : Step.values()) {
        List<String> requests = requests(step, step == Step.HOLD ? ran : held);
        for (int at = 1; at <= requests.size(); at++) {
          for (Fate fate : fates(requests.get(at - 1).replaceFirst(" .*", ""))) {
            for (boolean dies : new boolean[] {true, false}) {
              String then = steps + "/" + step + "-" + at + "-" + fate + (dies ? "-dies" : "");
              if (cases.runs(then, 24)) {
                Fault fault = dies ? Fault.deadFrom(at, fate) : Fault.at(at, fate);
                trouble(step, step == Step.HOLD ? ran : held, fault, then);
              }
            }
          }
        }
      }
    }

    private List<Fate> fates(String operation) {
      return operation.equals("write") && store.filesGrowInSight()
          ? List.of(Fate.FAILS_BEFORE, Fate.HALF_DONE, Fate.FAILS_AFTER)
          : List.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER);
    }

    private List<String> requests(Step step, Snapshot from) throws IOException {
      store.state().restore(from);
      DriverJob job = step == Step.HOLD ? jobAgain() : null;
      store.state().resetRequests();
      String failure = Failures.of(() -> take(step, job));
      require(failure.isEmpty(), step.name(), failure);
      return store.state().requests();
    }

    private void trouble(Step step, Snapshot from, Fault fault, String steps) throws IOException {
      store.state().restore(from);
      DriverJob job = step == Step.HOLD ? jobAgain() : null;
      store.onRequest(fault);
      final String failure = Failures.of(() -> take(step, job));
      store.noFault();
      if (step == Step.HOLD) {
        require(isBefore(), steps, "a reader sees " + store.visible());
      }
      Snapshot left = store.state().snapshot();
      for (End end : End.values()) {
        store.state().restore(left);
        store.passTime();
        String told = steps + "/" + end + ": " + failure;
        afterwards(step, end, failure, told);
      }
    }

    /** What recovers it, and then ends it. */
    private void afterwards(Step step, End end, String failure, String steps) throws IOException {
      boolean isHeldFirst = isHeld();
      if (end != End.DISCARDED) {
        String recovered = Failures.of(this::recover);
        require(recovered.isEmpty(), steps, "not recovered: " + recovered);
        require(isBefore() || isAfter(), steps, "the table is " + store.visible());
        require(isHeldFirst == isHeld(), steps, "a recovery ended a held job");
      }
      if (!failure.isEmpty() || step == Step.HOLD) {
        tally.count(isHeld() ? Count.STILL_HELD : Count.ENDED);
      }
      boolean wasThere = isThere();
      boolean wasHeld = isHeld();
      Step last = end == End.PUBLISHED ? Step.PUBLISH : Step.DISCARD;
      String ended = wasThere ? Failures.of(() -> take(last, null)) : "";
      if (wasHeld && ended.contains("somebody began to discard it")) {
        // Where uploads wait, a discard cannot be taken back once the first of them is aborted.
        require(step == Step.DISCARD && isBefore(), steps, ended);
        require(Failures.of(() -> take(Step.DISCARD, null)).isEmpty(), steps, ended);
        wasHeld = false;
      }
      if (wasHeld) {
        require(ended.isEmpty(), steps, "a held job does not end: " + ended);
        require(end == End.PUBLISHED ? isAfter() : isBefore(), steps, "it is " + store.visible());
        tally.count(end == End.PUBLISHED ? Count.PUBLISHED : Count.DISCARDED);
      }
      require(isBefore() || isAfter(), steps, ended + " the table is " + store.visible());
      if (step == Step.DISCARD || (step == Step.HOLD && !wasHeld)) {
        require(isBefore() || wasHeld, steps, "a discarded job is published");
      }
      if (wasThere && step != Step.HOLD) {
        require(!isThere(), steps, "left: " + store.files().keySet());
        require(store.state().uploads().isEmpty(), steps, "left: " + store.state().uploads());
      }
    }

    private void recover() throws IOException {
      if (store.files().isEmpty()) {
        return;
      }
      Recoveries.all(
          Recoveries.of(store.configuration(), /* force= */ false),
          store.path(CrashStore.TABLE),
          Direction.AS_MARKED);
    }

    private void take(Step step, DriverJob job) throws IOException {
      if (step == Step.HOLD) {
        job.commit();
      } else {
        HeldJobs.end(
            Recoveries.of(store.configuration(), /* force= */ false),
            root(),
            step == Step.PUBLISH ? Direction.PUBLISH : Direction.DISCARD);
      }
    }

    private DriverJob job() throws IOException {
      return new DriverJob(store, DriverJob.DEAD)
          .with(CommitterConfig.PUBLISH, "hold")
          .waiting(waiting -> store.state().passTime(1000))
          .setUp(write.by(DriverJob.DEAD_WORD));
    }

    /** Set up again, and its tasks run, over what is there: as the first time. */
    private DriverJob jobAgain() throws IOException {
      store.fill(write);
      return job().runTasks();
    }

    private StagingRoot root() throws IOException {
      Path table = new Stores(store.configuration()).resolve(store.path(CrashStore.TABLE));
      return new StagingRoot(table, DriverJob.DEAD);
    }

    private List<String> journals() {
      String attempt = CrashStore.TABLE + "/_manifest_" + DriverJob.DEAD + "/00/journal-";
      List<String> journals = new ArrayList<>(store.files().keySet());
      journals.removeIf(path -> !path.startsWith(attempt));
      return journals;
    }

    private boolean isHeld() {
      return journals().size() == 1 && journals().get(0).contains("/journal-held-");
    }

    /** Whether there is a journal. What is left without one is removed by the next job. */
    private boolean isThere() {
      return !journals().isEmpty();
    }

    private boolean isBefore() {
      return store.visible().equals(before);
    }

    private boolean isAfter() {
      return store.visible().equals(after);
    }

    private void require(boolean holds, String steps, String otherwise) {
      if (!holds) {
        tally.violation(steps.replaceFirst("/[A-Z]+: (?s:.*)", ""), steps + "\n    " + otherwise);
      }
    }
  }

  /** What is done when something dies or fails. */
  private enum Step {
    HOLD,
    PUBLISH,
    DISCARD
  }

  /** How what is left is ended: by a recovery and a publication, or at once. */
  private enum End {
    PUBLISHED,
    RECOVERED_AND_DISCARDED,
    DISCARDED
  }

  /** What is counted. */
  enum Count {
    /** Troubles after which the job is held. */
    STILL_HELD,
    /** Troubles after which it is not. */
    ENDED,
    /** Held jobs that were published then. */
    PUBLISHED,
    /** Held jobs that were discarded then. */
    DISCARDED
  }
}
