// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.CaseTally;
import io.manifestcommitter.testing.Cases;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.RequestFaults.Kind;
import io.manifestcommitter.testing.RequestFaults.Request;
import io.manifestcommitter.testing.SparkWrite.End;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Faults at the requests of job commits of the Spark protocol, on HDFS and on the local filesystem:
 * a request that goes wrong once, in every way, and a store that stays down from a request on. The
 * table is then the old one, or the new one, or the error names the command that makes it one of
 * them.
 *
 * <p>{@code -Dfaults.mode=sample} runs one case of each store, kind of request and fault, drawn by
 * {@code -Dfaults.seed}; {@code full} runs all, {@code -Dfaults.only} those that it names.
 */
@ExtendWith(HdfsExtension.class)
class SparkFaultIT {
  private static final int LANES = 4;

  private final Map<String, FileSystem> stores = new LinkedHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private final Cases selection = Cases.fromProperties("faults");
  private final Tally tally = new Tally(selection);

  SparkFaultIT(Hdfs hdfs) throws IOException {
    stores.put("hdfs", hdfs.fs());
    stores.put("file", FileSystem.newInstanceLocal(new Configuration()));
  }

  @Test
  void aFaultLeavesTheOldTableOrTheNewOneOrNamesTheRepair() throws Exception {
    List<Case> all = cases();
    List<Case> cases = selection.isSample() ? sample(all) : named(all);
    all.forEach(each -> tally.enter(each.line()));

    inLanes(cases);

    System.out.printf("%d of %d cases%n%s", cases.size(), all.size(), tally.table());
    assertThat(tally.violations()).isEmpty();
    int runs = 0;
    for (End end : End.values()) {
      runs += tally.sum(end);
      assertThat(selection.isNamed() || tally.sum(end) > 0).as("cases end in %s", end).isTrue();
    }
    assertThat(runs).isEqualTo(cases.size());
  }

  private List<Case> cases() throws IOException {
    List<Case> cases = new ArrayList<>();
    for (String store : stores.keySet()) {
      for (String directoryRename : List.of("auto", "off")) {
        for (String kind : SparkFaultTrial.KINDS) {
          List<Request> requests;
          try (SparkFaultTrial trial = trial(store, kind, directoryRename)) {
            requests = trial.clean();
          }
          assertThat(requests).hasSizeGreaterThan(20);
          for (int number = 1; number <= requests.size(); number++) {
            Request request = requests.get(number - 1);
            for (Fate fate : request.kind().faults()) {
              cases.add(new Case(store, directoryRename, kind, false, number, request, fate));
            }
            for (Fate fate :
                request.kind() == Kind.READS ? Kind.READS.faults() : Kind.CHANGES.faults()) {
              cases.add(new Case(store, directoryRename, kind, true, number, request, fate));
            }
            for (Fate fate : request.kind().errors()) {
              cases.add(new Case(store, directoryRename, kind, false, number, request, fate));
            }
          }
        }
      }
    }
    return cases;
  }

  /** Those that the properties name, or all. */
  private List<Case> named(List<Case> cases) {
    List<Case> named = new ArrayList<>(cases);
    named.removeIf(each -> !selection.runs(each.toString(), 1));
    return named;
  }

  /** One of each family. */
  private List<Case> sample(List<Case> cases) {
    List<Case> shuffled = new ArrayList<>(cases);
    Collections.shuffle(shuffled, new Random(selection.seed()));
    Map<String, Case> chosen = new TreeMap<>();
    shuffled.forEach(each -> chosen.putIfAbsent(each.family(), each));
    return new ArrayList<>(chosen.values());
  }

  private void inLanes(List<Case> cases) throws Exception {
    ExecutorService lanes = Executors.newFixedThreadPool(LANES);
    try {
      List<Future<?>> running = new ArrayList<>();
      cases.forEach(each -> running.add(lanes.submit(() -> run(each))));
      for (Future<?> lane : running) {
        lane.get();
      }
    } finally {
      lanes.shutdownNow();
    }
  }

  private void run(Case each) {
    try (SparkFaultTrial trial = trial(each.store, each.kind, each.directoryRename)) {
      tally.count(
          each.stays ? trial.stays(each.number, each.fate) : trial.once(each.number, each.fate),
          each.line());
    } catch (Throwable e) {
      tally.violation(each.toString(), each + ", " + each.request + "\n" + Failures.trace(e));
    }
  }

  private SparkFaultTrial trial(String store, String kind, String directoryRename)
      throws IOException {
    FileSystem fs = stores.get(store);
    String name = "spark-faults/" + numbers.incrementAndGet();
    Path base =
        store.equals("hdfs")
            ? new Path("/" + name)
            : new Path(System.getProperty("test.build.data"), name);
    return new SparkFaultTrial(fs, base, kind, directoryRename);
  }

  private static final class Case {
    private final String store;
    private final String directoryRename;
    private final String kind;
    private final boolean stays;
    private final int number;
    private final Request request;
    private final Fate fate;

    Case(
        String store,
        String directoryRename,
        String kind,
        boolean stays,
        int number,
        Request request,
        Fate fate) {
      this.store = store;
      this.directoryRename = directoryRename;
      this.kind = kind;
      this.stays = stays;
      this.number = number;
      this.request = request;
      this.fate = fate;
    }

    String[] line() {
      return new String[] {store, directoryRename, kind, stays ? "stays" : "once"};
    }

    /** What one case stands for in a sample. */
    String family() {
      if (Fate.ERRORS.contains(fate)) {
        return store + " " + fate;
      }
      return String.join(
          " ", store, stays ? "stays" : "once", request.operation(), fate.toString());
    }

    @Override
    public String toString() {
      return String.join("/", line()) + "/" + request.operation() + "-" + number + "-" + fate;
    }
  }

  private static final class Tally extends CaseTally<End> {
    Tally(Cases selection) {
      super(selection, End.class, "store", "directory.rename", "kind", "fault");
    }

    @Override
    protected String summary() {
      return "Faults in job commits of the Spark protocol on Hadoop " + VersionInfo.getVersion();
    }
  }
}
