// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.SuccessReport;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;

/**
 * One job into a table of its own: all that comes before the call under test, the call, and what
 * has to hold after it. Violations are assertion errors. The table is looked at past the connector.
 */
abstract class Trial {
  static final String LAST_REPORT = "the last report";
  static final String LAST_LIST = "the last list";

  private static final Map<String, String> FOREIGN =
      Map.of(
          "_temporary/manifest_other/00/tasks/attempt/part", "of another job",
          "_manifest_other/00/output/p=1/part", "of another job");

  final Lane lane;
  final Path table;
  private final RawStore raw;
  private final String directory;
  private NavigableMap<String, String> old;

  Trial(Lane lane) {
    this.lane = lane;
    this.table = lane.newTable();
    this.raw = lane.raw();
    this.directory = table.toUri().getPath() + "/";
  }

  /** Does what comes before the call under test. */
  abstract void prepare() throws IOException;

  /** The call under test. */
  abstract void act() throws IOException;

  /**
   * Checks what it left, and repairs what the documentation says can be repaired.
   *
   * @param failure what the call threw
   */
  abstract Verdict judge(Optional<Exception> failure) throws IOException;

  /** Puts an older table there, with other jobs at work in it. */
  final void oldTable(String... files) throws IOException {
    old = new TreeMap<>();
    for (String file : files) {
      old.put(file, rows("old", file));
    }
    write(old);
    write(FOREIGN);
    write(Map.of("_SUCCESS", LAST_REPORT, "_SUCCESS.files", LAST_LIST));
  }

  /** The files of the table before the job. */
  final NavigableMap<String, String> old() {
    return new TreeMap<>(old);
  }

  /** Rows that no other file of any job has. */
  static String rows(String job, String file) {
    StringBuilder rows = new StringBuilder();
    for (int row = 0; row < 3; row++) {
      rows.append(job).append(' ').append(file).append(' ').append(row).append('\n');
    }
    return rows.toString();
  }

  final void write(Map<String, String> files) throws IOException {
    for (Map.Entry<String, String> file : files.entrySet()) {
      raw.write(directory + file.getKey(), file.getValue());
    }
  }

  /** The path of a file, relative to the table. */
  final String relative(Path path) {
    return path.toUri().getPath().substring(directory.length());
  }

  final NavigableMap<String, String> visible() throws IOException {
    NavigableMap<String, String> visible = raw.files(directory);
    visible.keySet().removeIf(Trial::isHidden);
    return visible;
  }

  /** All that a reader of the table does not see, relative to it. */
  final List<String> hidden() {
    List<String> hidden = new ArrayList<>(raw.below(directory));
    hidden.removeIf(path -> !isHidden(path));
    return hidden;
  }

  final void delete(String relative) throws IOException {
    raw.delete(directory + relative);
  }

  private static boolean isHidden(String path) {
    return ("/" + path).contains("/_") || ("/" + path).contains("/.");
  }

  final String text(String relative) throws IOException {
    return raw.below(directory).contains(relative) ? raw.read(directory + relative) : "";
  }

  /** Whether the table's report says that a job succeeded. */
  final boolean claims(String jobId) throws IOException {
    return text("_SUCCESS").contains('"' + jobId + '"');
  }

  /** A success of the job: exactly these files and a report that says so. */
  final long assertCommitted(String jobId, NavigableMap<String, String> expected, int published)
      throws IOException {
    assertRows(expected);
    SuccessReport report =
        SuccessReport.parse(text("_SUCCESS").getBytes(StandardCharsets.UTF_8), "_SUCCESS");
    assertThat(report.success()).isTrue();
    assertThat(report.jobId()).isEqualTo(jobId);
    Map<String, Long> counters = report.statistics().counters();
    assertThat(counters).containsEntry(StatisticNames.COMMITTER_FILES_COMMITTED, (long) published);
    assertListed(jobId, published);
    return counters.getOrDefault(StatisticNames.OP_COMMIT_FILE_RENAME_RECOVERED, 0L);
  }

  private void assertListed(String jobId, int published) throws IOException {
    byte[] bytes = raw.bytes(directory + "_SUCCESS.files");
    try (FileList list = FileList.read(new ByteArrayInputStream(bytes), "_SUCCESS.files")) {
      assertThat(list.jobId()).isEqualTo(jobId);
      assertThat(list.count()).isEqualTo(published);
    }
  }

  /** Exactly these files, so that no row is lost or doubled; other jobs' files as they were. */
  final void assertRows(NavigableMap<String, String> expected) throws IOException {
    NavigableMap<String, String> visible = visible();
    assertThat(visible).isEqualTo(expected);
    List<String> rows = new ArrayList<>();
    visible.values().forEach(content -> rows.addAll(List.of(content.split("\n", -1))));
    rows.removeIf(String::isEmpty);
    assertThat(new HashSet<>(rows)).hasSameSizeAs(rows).hasSize(3 * expected.size());
    assertForeignUntouched();
  }

  final void assertForeignUntouched() throws IOException {
    for (Map.Entry<String, String> file : FOREIGN.entrySet()) {
      assertThat(text(file.getKey())).as(file.getKey()).isEqualTo(file.getValue());
    }
  }

  /**
   * Nothing that was uploaded into the table waits to be completed. An impatient client may be late
   * for any answer on a busy machine: then it creates the upload again. Nobody has the first one's
   * id, so nothing was sent to it.
   */
  void assertNoUploads() {
    List<String> waiting = new ArrayList<>(raw.uploads());
    waiting.removeIf(key -> !("/" + key).startsWith(directory));
    if (lane.isImpatient()) {
      List<String> unknown = uploadsCreatedAgain();
      unknown.retainAll(raw.uploadsWithoutParts());
      unknown.forEach(waiting::remove);
    }
    assertThat(waiting).as("uploads that wait").isEmpty();
  }

  /** The key of each creation that was not the first one of its key. */
  private List<String> uploadsCreatedAgain() {
    Set<String> created = new HashSet<>();
    return lane.emulator().log().entries().stream()
        .filter(entry -> entry.operation().equals("initiate"))
        .map(entry -> entry.path().substring(1))
        .filter(key -> !created.add(key))
        .collect(Collectors.toList());
  }

  /** Removes the table from the emulator, so that it does not grow. */
  final void forget() throws IOException {
    raw.delete(directory);
  }
}
