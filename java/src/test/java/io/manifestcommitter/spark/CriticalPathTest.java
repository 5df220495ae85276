// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.RequestDepth;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a small job waits for: one task, one file, requests that wait for one another. */
class CriticalPathTest {
  private static final int TRIES = 6;

  /** Milliseconds a request, in the first try; twice as many in the next. */
  private static final long LATENCY = 10;

  private final List<String> log = new ArrayList<>();
  private RequestDepth depth;
  private long latency;

  /**
   * The least of some tries: where a thread starts late, another one makes its request after its
   * own, and the longer requests take the less it does.
   */
  @ParameterizedTest
  @CsvSource({
    "abfs,first,2,8",
    "abfs,new,2,8",
    "abfs,append,2,8",
    "abfs,flat,2,8",
    "abfs,dynamic,2,13",
    "abfs,static,2,14",
    "hdfs,new,2,8",
    "hdfs,static,2,14",
    "gs,new,2,10",
    "gs,append,2,9",
    "gs,dynamic,2,14",
    "gs,static,2,15"
  })
  void requestsOfAJobOfOneFileWaitForFewOthers(String scheme, String kind, int setUp, int commit)
      throws IOException {
    int leastOfSetUp = Integer.MAX_VALUE;
    int leastOfCommit = Integer.MAX_VALUE;
    for (int i = 0; i < TRIES && (leastOfSetUp > setUp || leastOfCommit > commit); i++) {
      log.clear();
      latency = LATENCY << i;
      SparkJobHarness spark = new SparkJobHarness(scheme);
      int[] depths = run(spark, kind);
      leastOfSetUp = Math.min(leastOfSetUp, depths[0]);
      leastOfCommit = Math.min(leastOfCommit, depths[1]);
    }
    String all = String.join("\n", log);
    assertThat(leastOfSetUp).as(all).isEqualTo(setUp);
    assertThat(leastOfCommit).as(all).isEqualTo(commit);
  }

  private int[] run(SparkJobHarness spark, String kind) throws IOException {
    if (!kind.equals("first")) {
      spark.state.write("/table/_SUCCESS", "x");
      spark.state.write("/table/_SUCCESS.files", "x");
      spark.state.write(kind.equals("flat") ? "/table/old" : "/table/p=1/old", "old");
    }
    spark.state.gate(this::pass);
    depth = new RequestDepth();
    spark.setUp(
        kind.equals("static")
            ? TableWrite.replacing("/table")
            : kind.equals("dynamic") ? TableWrite.dynamic() : TableWrite.append());
    int ofSetUp = depth.longest();
    boolean isFlat = kind.equals("first") || kind.equals("flat");
    spark.commitTask(0, isFlat ? "f" : kind.equals("new") ? "p=2/f" : "p=1/f");
    log.add("commit");
    depth = new RequestDepth();
    spark.commit();
    return new int[] {ofSetUp, depth.longest()};
  }

  private void pass(String client, String operation, String path) {
    synchronized (log) {
      String text = path.replace(SparkJobHarness.JOB_ID, "id");
      log.add(String.format(Locale.ROOT, "%3d %s %s", depth.begin(), operation, text));
    }
    try {
      Thread.sleep(latency);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    depth.end();
  }
}
