package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.hadoop.SparkFaultTrial.End;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.RequestFaults.Kind;
import io.manifestcommitter.testing.RequestFaults.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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
 * {@code -Dfaults.seed}; {@code full} runs all.
 */
@ExtendWith(HdfsExtension.class)
class SparkFaultIT {
  private static final int LANES = 4;
  private static final int TOLD = 20;

  private final Map<String, FileSystem> stores = new LinkedHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private final Map<String, Counts> counts = new TreeMap<>();
  private final List<String> violations = new ArrayList<>();

  SparkFaultIT(Hdfs hdfs) throws IOException {
    stores.put("hdfs", hdfs.fs());
    stores.put("file", FileSystem.newInstanceLocal(new Configuration()));
  }

  @Test
  void aFaultLeavesTheOldTableOrTheNewOneOrNamesTheRepair() throws Exception {
    String mode = System.getProperty("faults.mode", "sample");
    long seed = Long.getLong("faults.seed", 1);
    List<Case> cases = cases();
    int all = cases.size();
    if (mode.equals("sample")) {
      cases = sample(cases, seed);
    } else if (!mode.equals("full")) {
      throw new IllegalArgumentException(
          "-Dfaults.mode is '" + mode + "': it has to be sample or full");
    }

    inLanes(cases);

    System.out.printf(
        "Faults in job commits of the Spark protocol, %s, seed %d, Hadoop %s: %d of %d cases%n%s",
        mode, seed, VersionInfo.getVersion(), cases.size(), all, table());
    assertThat(violations.subList(0, Math.min(TOLD, violations.size())))
        .as("%d violations, seed %d", violations.size(), seed)
        .isEmpty();
    Counts total = total();
    assertThat(total.runs).isEqualTo(cases.size());
    for (End end : End.values()) {
      assertThat(total.ends.get(end)).as("cases that ended in %s", end).isPositive();
    }
  }

  private List<Case> cases() throws IOException {
    List<Case> cases = new ArrayList<>();
    for (String store : stores.keySet()) {
      for (String directoryRename : List.of("auto", "off")) {
        for (SparkFaultTrial.Kind kind : SparkFaultTrial.Kind.values()) {
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
          }
        }
      }
    }
    return cases;
  }

  private static List<Case> sample(List<Case> cases, long seed) {
    List<Case> shuffled = new ArrayList<>(cases);
    Collections.shuffle(shuffled, new Random(seed));
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
      End end =
          each.stays ? trial.stays(each.number, each.fate) : trial.once(each.number, each.fate);
      count(each, end);
    } catch (Throwable e) {
      violation(each, e);
    }
  }

  private SparkFaultTrial trial(String store, SparkFaultTrial.Kind kind, String directoryRename)
      throws IOException {
    FileSystem fs = stores.get(store);
    String name = "spark-faults/" + numbers.incrementAndGet();
    Path base =
        store.equals("hdfs")
            ? new Path("/" + name)
            : new Path(System.getProperty("test.build.data"), name);
    return new SparkFaultTrial(fs, base, kind, directoryRename);
  }

  private synchronized void count(Case each, End end) {
    Counts cell = counts.computeIfAbsent(each.line(), line -> new Counts());
    cell.runs++;
    cell.ends.merge(end, 1, Integer::sum);
  }

  private synchronized void violation(Case each, Throwable what) {
    Counts cell = counts.computeIfAbsent(each.line(), line -> new Counts());
    cell.runs++;
    cell.violations++;
    violations.add(each + "\n" + Failures.trace(what));
  }

  private Counts total() {
    Counts total = new Counts();
    counts.values().forEach(total::add);
    return total;
  }

  /** In Markdown. */
  private String table() {
    StringBuilder table =
        new StringBuilder(
            "| store | directory.rename | kind | fault | runs | succeeded | failed and restored |"
                + " recovered: rolled back | recovered: finished | violations |\n"
                + "|---|---|---|---|--:|--:|--:|--:|--:|--:|\n");
    counts.forEach(
        (line, cell) -> table.append(String.format(Locale.ROOT, "| %s | %s |%n", line, cell)));
    return table.append(String.format(Locale.ROOT, "| all | | | | %s |%n", total())).toString();
  }

  private static final class Case {
    private final String store;
    private final String directoryRename;
    private final SparkFaultTrial.Kind kind;
    private final boolean stays;
    private final int number;
    private final Request request;
    private final Fate fate;

    Case(
        String store,
        String directoryRename,
        SparkFaultTrial.Kind kind,
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

    String line() {
      return String.join(
          " | ",
          store,
          directoryRename,
          kind.name().toLowerCase(Locale.ROOT),
          stays ? "stays" : "once");
    }

    /** What one case stands for in a sample. */
    String family() {
      return String.join(
          " ", store, stays ? "stays" : "once", request.operation(), fate.toString());
    }

    @Override
    public String toString() {
      return line() + ", request " + number + " (" + request + "), " + fate;
    }
  }

  private static final class Counts {
    private final Map<End, Integer> ends = new EnumMap<>(End.class);
    private int runs;
    private int violations;

    Counts() {
      for (End end : End.values()) {
        ends.put(end, 0);
      }
    }

    void add(Counts other) {
      runs += other.runs;
      violations += other.violations;
      other.ends.forEach((end, count) -> ends.merge(end, count, Integer::sum));
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%d | %d | %d | %d | %d | %d",
          runs,
          ends.get(End.SUCCEEDED),
          ends.get(End.RESTORED),
          ends.get(End.ROLLED_BACK),
          ends.get(End.FINISHED),
          violations);
    }
  }
}
