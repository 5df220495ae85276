// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static io.manifestcommitter.spark.SparkJobHarness.STAGING;
import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.manifest.RecordFile;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A table with the journal of a driver that died half-way, in the same store as places that are not
 * the job's; the journal can be replaced by another one.
 */
final class ForgedJournal {
  static final String JOURNAL = STAGING + "/00/journal-planned-0";
  static final String OTHER_STAGING = "/table/_manifest_other";

  /** What is not the job's: files, all with the text {@code theirs}. */
  private static final List<String> THEIRS =
      List.of(
          "/victim/data",
          "/victim/p=1/data",
          "/victim/_SUCCESS",
          "/other/_manifest_" + JOB_ID + "/heartbeat",
          "/other/data",
          OTHER_STAGING + "/00/output/p=1/data",
          OTHER_STAGING + "/00/old/0/data",
          OTHER_STAGING + "/00/data",
          "/table/_temporary/manifest_job_1/00/manifests/task_1-manifest.json",
          "/table/.spark-staging-1/p=1/data",
          "/table2/data");

  private static final Pattern CHANGE = Pattern.compile("(rename|delete|create|mkdirs) (.*)");
  private static final Pattern OWN =
      Pattern.compile(
          "/elsewhere(/.*)?|/table|/table/(?!_manifest_other|_temp|\\.spark).*|/victim/_manifest_"
              + JOB_ID);

  private final SparkJobHarness spark;
  private final Snapshot dead;

  private ForgedJournal(SparkJobHarness spark) {
    this.spark = spark;
    this.dead = spark.state.snapshot();
  }

  /**
   * A job that died half-way between its journal and its end.
   *
   * @param kind as {@link SparkJobFaultTest#prepared} takes it
   */
  static ForgedJournal of(String scheme, String kind) throws IOException {
    SparkJobHarness clean = SparkJobFaultTest.prepared(scheme, kind, "auto");
    clean.commit();
    List<String> requests = clean.state.requests();
    int planned = 0;
    while (!requests.get(planned).contains("journal-planned-0")) {
      planned++;
    }
    int diesAt = (planned + requests.size()) / 2;

    SparkJobHarness spark = SparkJobFaultTest.prepared(scheme, kind, "auto");
    THEIRS.forEach(file -> spark.state.write(file, "theirs"));
    spark.state.onRequest(Fault.deadFrom(diesAt, Fate.FAILS_BEFORE));
    try {
      spark.commit();
      throw new AssertionError("the job was to die");
    } catch (IOException e) {
      spark.state.noFault();
    }
    assertThat(spark.state.exists(JOURNAL)).isTrue();
    return new ForgedJournal(spark);
  }

  SparkJobHarness spark() {
    return spark;
  }

  /** A full path in the store. */
  String uri(String path) {
    return spark.path(path).toString();
  }

  byte[] content() {
    spark.state.restore(dead);
    return spark.state.bytes(JOURNAL);
  }

  /** The records of the journal. */
  List<Record> records() throws IOException {
    List<Record> records = new ArrayList<>();
    try (RecordFile.Reader reader =
        new RecordFile.Reader(new ByteArrayInputStream(content()), JOURNAL)) {
      for (Optional<Record> r = reader.next(); r.isPresent(); r = reader.next()) {
        records.add(r.get());
      }
    }
    return records;
  }

  /** Puts another journal there, with everything else as the driver left it. */
  void replace(List<Record> records) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RecordFile.Writer writer = new RecordFile.Writer(out);
    for (Record each : records) {
      writer.write(each);
    }
    writer.finish();
    replace(out.toByteArray());
  }

  void replace(byte[] content) {
    spark.state.restore(dead);
    spark.state.write(JOURNAL, content);
    spark.state.resetRequests();
  }

  Outcome recover(Direction direction) throws IOException {
    return spark.recovery(/* force= */ true).run(spark.root(), direction);
  }

  /** Requires that nothing but the job's own places was touched. */
  void requireOthersUntouched(String context) {
    Map<String, String> theirs = new TreeMap<>(spark.state.files());
    theirs.values().removeIf(text -> !text.equals("theirs"));
    assertThat(theirs.keySet()).as(context).containsExactlyInAnyOrderElementsOf(THEIRS);
    for (String request : changes()) {
      for (String path : request.substring(request.indexOf(' ') + 1).split(" -> ", -1)) {
        assertThat(path).as(context).matches(OWN);
      }
    }
  }

  /** The requests since the journal was replaced that change something. */
  List<String> changes() {
    List<String> changes = new ArrayList<>(spark.state.requests());
    changes.removeIf(request -> !CHANGE.matcher(request).matches());
    return changes;
  }
}
