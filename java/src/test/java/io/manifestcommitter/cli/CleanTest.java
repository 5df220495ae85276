// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CleanTest {
  /** So that nobody waits for long to see that a heartbeat stands still. */
  private static final String TIMEOUT = CommitterConfig.HEARTBEAT_TIMEOUT + "=3s";

  private static final String INTERVAL = CommitterConfig.HEARTBEAT_INTERVAL + "=100ms";
  private static final Duration SHORT = Duration.ofHours(1);
  private static final Duration LONG = Duration.ofHours(30);

  @TempDir private Path local;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private Path table;

  @BeforeEach
  void makeTable() throws IOException {
    table = Files.createDirectories(local.resolve("table"));
    write("p=1/data", LONG);
    write("_SUCCESS", LONG);
  }

  @Test
  void whatADeadJobLeftIsRemoved() throws IOException {
    write("_manifest_job-1/heartbeat", LONG);
    write("_manifest_job-1/00/output/p=1/a", LONG);
    write("_temporary/manifest_job-2/00/manifests/task_0-manifest.json", LONG);
    write("_temporary/0/_temporary/attempt_0/part-0", LONG);
    write(".spark-staging-job-3/p=1/part-0", LONG);
    age(LONG);

    assertThat(run(table())).isZero();

    assertThat(text(out)).contains("watching 1 job for 3.0 s");
    assertThat(text(out).lines().filter(line -> !line.contains("watching")))
        .hasSize(4)
        .allMatch(line -> line.contains("abandoned, silent for 30 h"))
        .allMatch(line -> line.endsWith(": removed"))
        .anyMatch(line -> line.contains("_manifest_job-1: ") && line.contains("2 files, "));
    assertThat(files()).containsExactly("_SUCCESS", "p=1/data");
    assertThat(table.resolve("_temporary")).doesNotExist();
    assertThat(run(table())).isZero();
    assertThat(text(out)).contains("no staging directories");
  }

  @Test
  void aJobThatLivesStaysUnlessForced() throws IOException {
    write("_manifest_job-1/00/output/p=1/a", LONG);
    write("_temporary/0/_temporary/attempt_0/part-0", LONG);
    age(LONG);
    write("_temporary/0/_temporary/attempt_1/part-1", SHORT);
    org.apache.hadoop.fs.Path root = new org.apache.hadoop.fs.Path(table(), "_manifest_job-1");
    Store store = new Stores(conf()).all();
    try (Heartbeat heartbeat = Heartbeat.start(store, root, new CommitterConfig(conf()))) {
      assertThat(run("--older-than", "0s", table())).isZero();
      assertThat(text(out)).contains("_manifest_job-1: running").contains("shows signs of life");
      assertThat(heartbeat.isSilent()).isFalse();
    }
    assertThat(files()).contains("_manifest_job-1/heartbeat").noneMatch(f -> f.contains("_temp"));

    assertThat(run("--force", table())).isZero();
    assertThat(files()).containsExactly("_SUCCESS", "p=1/data");
  }

  @Test
  void whatIsNotOldEnoughStays() throws IOException {
    write("_manifest_job-1/heartbeat", SHORT);
    write("_temporary/0/part-0", SHORT);
    List<String> before = files();

    assertThat(run(table())).isZero();
    assertThat(text(out)).contains("_manifest_job-1: abandoned", "not old enough");
    assertThat(text(out)).contains("_temporary/0: running", "signs of life");
    assertThat(files()).isEqualTo(before);

    assertThat(run("--older-than", "30m", "--dry-run", table())).isZero();
    assertThat(files()).isEqualTo(before);
    assertThat(run("--older-than", "30m", table())).isZero();
    assertThat(files()).contains("_temporary/0/part-0").noneMatch(f -> f.contains("_manifest_"));
  }

  @Test
  void anUnfinishedCommitStaysUnlessItIsToBeDiscarded() throws IOException {
    write("_manifest_job-1/heartbeat", LONG);
    write("_manifest_job-1/00/journal-planned-0", LONG);
    write("_manifest_job-2/00/old/0/0-_manifest_job-2/old", LONG);
    write("_temporary/manifest_job-3/00/manifests/commit-started", LONG);
    age(LONG);
    List<String> before = files();

    assertThat(run(table())).isZero();
    assertThat(text(out).lines()).hasSize(3).allMatch(line -> line.contains(": unfinished, "));
    assertThat(text(out)).contains("recover it: manifest-committer recover file:" + table);
    assertThat(text(out)).contains("commit or abort again");
    assertThat(files()).isEqualTo(before);
    assertThat(run("--force", table())).isZero();
    assertThat(files()).as("force is no discard").isEqualTo(before);

    assertThat(run("--discard-unfinished", table())).isZero();
    assertThat(files()).containsExactly("_SUCCESS", "p=1/data");
  }

  /** A recovery that fails stops the heartbeat. */
  @Test
  void anUnfinishedCommitWithoutAHeartbeatIsNotTakenForARunningOne() throws IOException {
    write("_manifest_job-1/00/journal-planned-7", SHORT);
    age(SHORT);
    assertThat(run(table())).isZero();
    assertThat(text(out)).contains(": unfinished, ").doesNotContain("signs of life");
    assertThat(files()).contains("_manifest_job-1/00/journal-planned-7");
  }

  @Test
  void aFinishedCommitIsOnlyCleaned() throws IOException {
    write("_manifest_job-1/heartbeat", LONG);
    write("_manifest_job-1/00/journal-finished-0", LONG);
    write("_manifest_job-1/00/old/0/old", LONG);
    assertThat(run(table())).isZero();
    assertThat(files()).containsExactly("_SUCCESS", "p=1/data");
  }

  @Test
  void aSessionIsAnsweredInJson() throws IOException {
    write("_manifest_job-1/heartbeat", LONG);
    assertThat(Clean.ofSession(conf(), table(), "24h", true, false, false))
        .contains("\"jobId\":\"job-1\"", "\"state\":\"abandoned\"", "\"removed\":false")
        .contains("\"kind\":\"spark_protocol\"", "\"error\":null", "\"files\":1");
    assertThat(Clean.ofSession(conf(), table(), "24h", false, false, false))
        .contains("\"removed\":true");
    assertThat(Clean.ofSession(conf(), table(), "24h", false, false, false)).isEqualTo("[]");
    assertThatThrownBy(() -> Clean.ofSession(conf(), table(), "a day", false, false, false))
        .hasMessageContaining("'a day' is no length of time");
  }

  @Test
  void thereIsNothingToCleanWhereThereIsNoTable() throws IOException {
    String nowhere = table() + "/nowhere";

    assertThat(run(nowhere)).isEqualTo(1);
    String told = "There is nothing at " + nowhere + ": check the path";
    assertThat(text(err).trim()).isEqualTo("Clean: " + told);
    assertThat(text(out)).isEmpty();

    assertThat(run("--missing-ok", nowhere)).isZero();
    assertThat(text(out).trim()).isEqualTo(told);
    assertThatThrownBy(() -> Clean.ofSession(conf(), nowhere, "24h", false, false, false))
        .isInstanceOf(NothingThereException.class)
        .hasMessage(told);
  }

  @Test
  void wrongUsageIsTold() {
    assertThat(run()).isEqualTo(2);
    assertThat(run("--older-than", "soon", table())).isEqualTo(2);
    assertThat(text(err)).contains("'soon' is no length of time").contains("Usage: Clean");
    assertThat(run("--help")).isZero();
    assertThat(text(out)).contains("Usage: Clean");
    assertThat(run("s3n://bucket/table")).isEqualTo(1);
    assertThat(text(err)).contains("s3n");
  }

  @Test
  void uploadsAreOnS3() {
    assertThat(run("--uploads", table())).isEqualTo(1);
    assertThat(text(err)).contains("leave --uploads out");
  }

  @Test
  void uploadsOfAJobThatLivesAreLeft() {
    MemoryStoreState state = MemoryFileSystem.state("clean");
    state.clear();
    state.write("/table/_manifest_job-1/heartbeat", "");
    assertThat(runOnS3("--uploads")).isEqualTo(1);
    assertThat(text(err)).contains("_manifest_job-1 is running").doesNotContain("hadoop-aws");
  }

  @Test
  void withoutTheToolForUploadsTheErrorSaysWhatIsMissing() {
    MemoryFileSystem.state("clean").clear();
    assertThat(runOnS3("--uploads")).isEqualTo(1);
    assertThat(text(out)).contains("There is nothing at s3a://");
    assertThat(text(err)).contains("hadoop-aws").contains("--class-path");
  }

  private int runOnS3(String option) {
    String impl = "fs.s3a.impl=" + MemoryFileSystem.class.getName();
    return run("-D", impl, "-D", "fs.s3a.impl.disable.cache=true", option, "s3a://clean/table");
  }

  private static Configuration conf() {
    Configuration conf = new Configuration();
    for (String setting : List.of(TIMEOUT, INTERVAL)) {
      conf.set(setting.split("=", -1)[0], setting.split("=", -1)[1]);
    }
    return conf;
  }

  private String table() {
    return "file:" + table;
  }

  private void write(String file, Duration ago) throws IOException {
    Path path = table.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, "content");
    Files.setLastModifiedTime(path, FileTime.from(Instant.now().minus(ago)));
  }

  /** Directories, too. */
  private void age(Duration ago) throws IOException {
    try (Stream<Path> walk = Files.walk(table)) {
      for (Path path : walk.toList()) {
        Files.setLastModifiedTime(path, FileTime.from(Instant.now().minus(ago)));
      }
    }
  }

  private List<String> files() throws IOException {
    try (Stream<Path> walk = Files.walk(table)) {
      return walk.filter(Files::isRegularFile)
          .map(file -> table.relativize(file).toString())
          .sorted()
          .toList();
    }
  }

  private int run(String... args) {
    out.reset();
    err.reset();
    try (PrintStream toOut = new PrintStream(out, true, StandardCharsets.UTF_8);
        PrintStream toErr = new PrintStream(err, true, StandardCharsets.UTF_8)) {
      List<String> all = new ArrayList<>(List.of("-D", TIMEOUT, "-D", INTERVAL));
      all.addAll(List.of(args));
      return new Clean(toOut, toErr).run(all.toArray(new String[0]));
    }
  }

  private static String text(ByteArrayOutputStream stream) {
    return stream.toString(StandardCharsets.UTF_8);
  }
}
