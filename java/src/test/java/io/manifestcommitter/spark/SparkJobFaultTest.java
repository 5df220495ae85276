// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * One failure at every request of a job commit, in every way, once: the job ends with exactly the
 * new table and reports success, or with exactly the old one and reports failure, and leaves no
 * staging directory and no upload. Only an {@link Error} that is no failure of a disk may leave it
 * to recovery to make one of the two.
 */
@Tag("sample")
class SparkJobFaultTest {
  static final Map<String, String> OLD =
      Map.of("/table/p=1/old", "old", "/table/p=2/old", "old", "/elsewhere/old", "old");

  @ParameterizedTest
  @CsvSource({
    "hdfs,append", "hdfs,static", "hdfs,dynamic", "hdfs,partition",
    "abfs,append", "abfs,static", "abfs,dynamic", "abfs,partition",
    "gs,append", "gs,static", "gs,dynamic", "gs,partition",
    "s3a,append", "s3a,static", "s3a,dynamic", "s3a,partition"
  })
  void oneFailureLeavesTheOldTableOrMakesTheNewOne(String scheme, String kind) throws IOException {
    oneFailure(scheme, kind, "auto");
    SparkJobHarness spark = new SparkJobHarness(scheme);
    // Else "auto" is "off".
    if (new Stores(spark.conf).all().traits(spark.table).hasAtomicDirectoryRename()) {
      oneFailure(scheme, kind, "off");
    }
  }

  private static void oneFailure(String scheme, String kind, String directoryRename)
      throws IOException {
    int requests = run(scheme, kind, directoryRename, 0, Fate.NORMAL).requests;
    assertThat(requests).isGreaterThan(15);
    int injected = 0;
    int failed = 0;
    int draw = (scheme + kind).hashCode();
    for (int at = 1; at <= requests; at++) {
      for (Fate fate : Fate.values()) {
        if (fate != Fate.NORMAL && fate.isTriedAt(at + draw)) {
          injected++;
          failed += run(scheme, kind, directoryRename, at, fate).failed ? 1 : 0;
        }
      }
    }
    System.out.printf(
        "%s %s, directory.rename %s: %d faults injected into %d requests, %d jobs failed and left the old table%n",
        scheme, kind, directoryRename, injected, requests, failed);
    assertThat(failed).isLessThan(injected);
  }

  static SparkJobHarness prepared(String scheme, String kind, String directoryRename)
      throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme);
    prepare(spark, kind, directoryRename);
    return spark;
  }

  /** Fills the store and runs a job up to its commit. */
  static void prepare(SparkJobHarness spark, String kind, String directoryRename)
      throws IOException {
    spark.with(CommitterConfig.DIRECTORY_RENAME, directoryRename).oneThread();
    OLD.forEach(spark.state::write);
    spark.state.write("/table/_SUCCESS", "the last report");
    spark.state.write("/table/_SUCCESS.files", "the last list");
    spark.setUp(write(kind)).commitTask(0, "p=1/a", "p=3/b").commitTask(1, "p=1/c");
    spark.commitTaskAt(2, "/elsewhere", "d");
    spark.state.resetRequests();
  }

  private static Run run(String scheme, String kind, String directoryRename, int at, Fate fate)
      throws IOException {
    SparkJobHarness spark = prepared(scheme, kind, directoryRename);
    spark.state.onRequest(Fault.at(at, fate));

    Optional<Throwable> failure = spark.commitOrAbort();
    boolean failed = failure.isPresent();
    String context = scheme + " " + kind + ", request " + at + " " + fate + ": " + failure;
    int requests = spark.state.requests().size();
    spark.state.noFault();
    if (fate.breaks()) {
      List<Outcome> ends = spark.recover(Direction.AS_MARKED, /* force= */ true);
      assertThat(failed || !ends.contains(Outcome.ROLLED_BACK)).as(context).isTrue();
      failed &= ends.isEmpty() || ends.contains(Outcome.ROLLED_BACK);
    }
    if (at > 0) {
      String request = spark.state.requests().get(at - 1);
      context += " " + request;
      if (failed && request.startsWith("initiate ")) {
        // Its id was never told: it stays, without a byte, until somebody cleans the bucket.
        spark.state.abortUpload(request.substring("initiate ".length()));
      }
    }
    assertThat(spark.visible()).as(context).isEqualTo(failed ? OLD : expected(kind));
    String report = spark.state.files().get("/table/_SUCCESS");
    if (failed) {
      assertThat(report).as(context).isEqualTo("the last report");
      assertThat(spark.state.files().get("/table/_SUCCESS.files"))
          .as(context)
          .isEqualTo("the last list");
    } else {
      assertThat(report).as(context).contains(JOB_ID);
    }
    assertThat(spark.staging()).as(context).isEmpty();
    return new Run(requests, failed);
  }

  static Map<String, String> expected(String kind) {
    return write(kind).after(OLD);
  }

  /** A static overwrite is of the location, too. */
  static TableWrite write(String kind) {
    return (kind.equals("static")
            ? TableWrite.replacing("/table", "/elsewhere")
            : TableWrite.of(kind, "/table"))
        .with(
            Map.of(
                "/table/p=1/a", "new p=1/a",
                "/table/p=1/c", "new p=1/c",
                "/table/p=3/b", "new p=3/b",
                "/elsewhere/d", "new d"));
  }

  private record Run(int requests, boolean failed) {}
}
