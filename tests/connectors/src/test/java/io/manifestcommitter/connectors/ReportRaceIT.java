// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.S3Emulator;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.store.StoreTraits;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.SparkWrite;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The report and the list of files on S3, through hadoop-aws: of one job where that writes under
 * conditions, and of two where it, its settings or the server do not.
 */
class ReportRaceIT {
  private static final String SWITCH = "fs.s3a.create.conditional.enabled";
  private static final String[] CONDITIONS = {"If-None-Match", "If-Match"};

  private final S3Emulator emulator = EmulatedStore.s3();
  private final Configuration conf = EmulatedStore.S3A.conf();
  private final Path table = EmulatedStore.S3A.newRoot("reports");

  @AfterEach
  void repair() throws IOException {
    emulator.faults().clear();
    emulator.ignore();
    switchConditions(true);
  }

  /** A filesystem reads its settings when it is opened. */
  private void switchConditions(boolean isOn) throws IOException {
    FileSystem.closeAllForUGI(UserGroupInformation.getCurrentUser());
    conf.setBoolean(SWITCH, isOn);
  }

  /** The one whose report was on its way comes last, where its put is refused first. */
  @ParameterizedTest
  @CsvSource({"true,true", "true,false", "false,true"})
  void aJobThatEndsWhileAnothersReportIsOnItsWay(boolean isOn, boolean isHeard) throws Exception {
    switchConditions(isOn);
    // The fast job goes on once it has seen the slow one's heartbeat move.
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "1s");
    if (!isHeard) {
      emulator.ignore(CONDITIONS);
    }
    boolean compares = compares();
    assertThat(compares).isEqualTo(isOn && hasConditions());
    append().commit();
    SparkWrite slow = append();
    SparkWrite fast = append();
    FaultRule put = emulator.faults().add(onReport().hold());
    ExecutorService driver = Executors.newSingleThreadExecutor();
    try {
      Future<?> commit = driver.submit(slow::commit);
      put.awaitHeld();
      fast.commit();
      put.release();
      commit.get();
    } finally {
      driver.shutdownNow();
    }
    assertThat(ofReport()).isEqualTo(slow.id());
    assertThat(ofList()).isEqualTo(compares && isHeard ? slow.id() : fast.id());
    assertThat(visible()).isEqualTo(3);
    assertThat(staging()).isEmpty();
  }

  /** A put that was done and is asked for again, by S3A or by us, meets what it made itself. */
  @Test
  void aReportWhoseAnswerIsLostIsKnownAgain() throws Exception {
    SparkWrite write = append();
    FaultRule put = emulator.faults().add(onReport().applyThenDrop());
    write.commit();
    assertThat(put.applied()).isEqualTo(1);
    assertThat(ofReport()).isEqualTo(write.id());
    assertThat(ofList()).isEqualTo(write.id());
    assertThat(staging()).isEmpty();
  }

  /** S3 answers 409 where others write the same key; other servers may know no conditions. */
  @ParameterizedTest
  @CsvSource({"409,ConditionalRequestConflict", "501,NotImplemented"})
  void aReportThatIsRefusedOnceIsPutAgain(int status, String code) throws Exception {
    SparkWrite write = append();
    emulator.faults().add(onReport().refuse(status, code));
    write.commit();
    assertThat(ofReport()).isEqualTo(write.id());
    assertThat(ofList()).isEqualTo(write.id());
  }

  @ParameterizedTest
  @ValueSource(strings = {"append", "static"})
  void conditionsCostNoRequest(String kind) throws Exception {
    assumeThat(hasConditions()).isTrue();
    int[] requests = new int[2];
    for (int on = 0; on < 2; on++) {
      switchConditions(on == 1);
      Path each = new Path(table, "with-" + on);
      SparkWrite.append(conf, each).task(0, "p=1").commit();
      SparkWrite write = SparkWrite.begin(conf, each, kind).task(0, "p=1");
      emulator.log().clear();
      write.commit();
      // A sign of life comes by the clock.
      requests[on] =
          (int)
              emulator.log().entries().stream()
                  .filter(entry -> !entry.path().endsWith("/heartbeat"))
                  .count();
    }
    System.out.printf("%s: %d requests, with conditions %d%n", kind, requests[0], requests[1]);
    assertThat(requests[1]).isPositive().isLessThan(requests[0]);
  }

  private FaultRule.When onReport() {
    return FaultRule.on("put").path(table.toUri().getPath() + "/_SUCCESS$");
  }

  private SparkWrite append() throws IOException {
    return SparkWrite.append(conf, table).task(0, "p=1");
  }

  private boolean compares() {
    StoreTraits traits = new Stores(conf).all().traits(table);
    return traits.replacesOnlyWhatWasSeen();
  }

  /** Hadoop 3.3 knows none. */
  private static boolean hasConditions() {
    return !VersionInfo.getVersion().startsWith("3.3.");
  }

  private String ofReport() throws IOException {
    try (InputStream in = open("_SUCCESS")) {
      return SuccessReport.parse(in.readAllBytes(), "_SUCCESS").jobId();
    }
  }

  private String ofList() throws IOException {
    try (InputStream in = open("_SUCCESS.files");
        FileList list = FileList.read(in, "_SUCCESS.files")) {
      return list.jobId;
    }
  }

  private InputStream open(String name) throws IOException {
    return table.getFileSystem(conf).open(new Path(table, name));
  }

  private long visible() {
    return keys().stream().filter(key -> !key.contains("/_") && !key.endsWith("/")).count();
  }

  private Set<String> staging() {
    Set<String> left = keys();
    left.removeIf(key -> !key.contains("/_manifest_"));
    return left;
  }

  private Set<String> keys() {
    Set<String> keys = new HashSet<>(emulator.tree().keySet());
    keys.removeIf(key -> !key.contains(table.getName() + "/"));
    return keys;
  }
}
