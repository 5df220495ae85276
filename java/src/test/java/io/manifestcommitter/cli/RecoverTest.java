// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecoverTest {
  @TempDir private java.nio.file.Path local;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  /** So that nobody waits for long to see that a heartbeat stands still. */
  private static final List<String> SETTINGS =
      List.of(
          CommitterConfig.HEARTBEAT_TIMEOUT + "=3s", CommitterConfig.HEARTBEAT_INTERVAL + "=100ms");

  private final Store store = new Stores(new Configuration()).all();
  private Path table;
  private StagingRoot root;

  @BeforeEach
  void makeTable() throws IOException {
    java.nio.file.Path directory = Files.createDirectories(local.resolve("table"));
    table = new Path("file:" + directory);
    root = new StagingRoot(table, "job-1");
    Files.writeString(Files.createDirectories(directory.resolve("p=1")).resolve("old"), "old");
  }

  @Test
  void aJobThatDiedBeforeItsPointOfNoReturnIsRolledBack() throws IOException {
    died();

    assertThat(run(table.toString())).isZero();

    assertThat(text(out)).contains(root.root() + ": rolled back");
    assertThat(files()).containsExactly("p=1/old");
    assertThat(run(table.toString())).isZero();
    assertThat(text(out)).contains("no unfinished commit");
  }

  @Test
  void aJobMayBeCompletedInstead() throws IOException {
    died();
    assertThat(run("--rollback", "--complete", table.toString())).isEqualTo(2);

    assertThat(run("--complete", table.toString())).isZero();

    assertThat(text(out)).contains(root.root() + ": completed");
    assertThat(files()).contains("p=1/old", "p=2/new", "_SUCCESS");
    assertThat(local.resolve("table/_manifest_job-1")).doesNotExist();
  }

  @Test
  void aRecoveryCountsItsRequests() throws IOException {
    died();

    assertThat(run("--complete", table.toString())).isZero();

    byte[] written = Files.readAllBytes(local.resolve("table/_SUCCESS"));
    Map<String, Long> counted = SuccessReport.parse(written, "_SUCCESS").statistics().counters();
    assertThat(counted).containsKeys(StatisticNames.OP_LIST_STATUS, StatisticNames.OP_RENAME);
    List<Map<String, Object>> ended = Commits.ofAllClassLoaders();
    assertThat(ended.get(ended.size() - 1))
        .containsEntry("kind", "recovery")
        .containsEntry("state", "committed")
        .hasEntrySatisfying(
            "requests",
            requests ->
                assertThat((long) requests)
                    .as("it goes on after its report is written")
                    .isGreaterThan(requests(counted)));
  }

  private static long requests(Map<String, Long> counted) {
    return StatisticsRecorder.REQUESTS.stream()
        .mapToLong(kind -> counted.getOrDefault(kind, 0L))
        .sum();
  }

  @Test
  void aTableThatTheJobMadeGoesWithIt() throws IOException {
    Files.delete(local.resolve("table/p=1/old"));
    Files.delete(local.resolve("table/p=1"));
    died(/* madeTable= */ true);

    assertThat(run("--rollback", table.toString())).isZero();

    assertThat(local.resolve("table")).doesNotExist();
  }

  @Test
  void aSessionIsAnsweredInJson() throws IOException {
    died();
    try (Heartbeat heartbeat = Heartbeat.start(store, root.root(), new CommitterConfig(conf()))) {
      assertThat(Recover.ofSession(conf(), table.toString(), false, false))
          .contains("\"jobId\":\"job-1\"", "\"outcome\":null", "\"alive\":true", "signs of life");
      assertThat(heartbeat.isSilent()).isFalse();
    }
    assertThat(Recover.ofSession(conf(), table.toString(), false, true))
        .contains("\"outcome\":\"rolled_back\"", "\"errors\":[]", "\"alive\":false");
    assertThat(Recover.ofSession(conf(), table.toString(), true, true)).isEqualTo("[]");
  }

  @Test
  void aJobThatLivesIsLeftAloneUnlessForced() throws IOException {
    died();
    try (Heartbeat heartbeat = Heartbeat.start(store, root.root(), new CommitterConfig(conf()))) {
      assertThat(run(table.toString())).isEqualTo(1);
      assertThat(text(err)).contains("signs of life").contains("--force");
      assertThat(text(out)).contains("watching 1 job for");
      assertThat(heartbeat.isSilent()).isFalse();
    }
    assertThat(files()).contains("p=2/new");

    assertThat(run("--force", table.toString())).isZero();
    assertThat(files()).containsExactly("p=1/old");
  }

  @Test
  void aPlaceThatAnotherJobChangedIsNamedAndNotTouched() throws IOException {
    died();
    Files.writeString(local.resolve("table/p=2/new"), "written again by somebody else");

    assertThat(run(table.toString())).isEqualTo(1);

    assertThat(text(err)).contains("p=2/new").contains("changed since");
    assertThat(local.resolve("table/p=2/new")).hasContent("written again by somebody else");
    assertThat(run(table.toString())).as("until somebody looks").isEqualTo(1);
  }

  @Test
  void aDamagedJournalIsRefused() throws IOException {
    died();
    java.nio.file.Path attempt = local.resolve("table/_manifest_job-1/00");
    Files.write(attempt.resolve("journal-planned-0"), new byte[] {1, 2});
    Files.delete(attempt.resolve(".journal-planned-0.crc"));

    assertThat(run(table.toString())).isEqualTo(1);

    assertThat(text(err))
        .contains("journal-planned")
        .contains("cannot be used")
        .contains("Nothing was changed");
    assertThat(files()).contains("p=2/new");
  }

  @Test
  void whatACommitLeftThatHadEndedIsRemoved() throws IOException {
    died();
    CommitJournal.find(store, root.attempt()).get().ended();

    assertThat(run(table.toString())).isZero();

    assertThat(text(out)).contains(root.root() + ": was complete; what it left was removed");
    assertThat(files()).containsExactly("p=1/old", "p=2/new");
    assertThat(local.resolve("table/_manifest_job-1")).doesNotExist();
  }

  @Test
  void whatCannotBeRemovedOfACommitThatHadEndedIsToldAndIsNoError() throws IOException {
    MemoryStoreState state = MemoryFileSystem.state("recover");
    state.clear();
    state.write("/table/_manifest_job-1/00/journal-finished-0", "damaged");
    state.giveAway("/table/_manifest_job-1");
    String uri = "mem://recover/table";
    String[] driver = {"-D", "fs.mem.impl=" + MemoryFileSystem.class.getName()};

    assertThat(run(driver[0], driver[1], uri)).isZero();

    assertThat(text(out))
        .contains(uri + "/_manifest_job-1: was complete. The commit of job job-1")
        .contains("could not be removed")
        .contains("manifest-committer clean " + uri);
    Configuration conf = MemoryFileSystem.configuration();
    assertThat(Recover.ofSession(conf, uri, false, false))
        .contains("\"outcome\":\"cleaned_up\"", "could not be removed");
    assertThat(Clean.ofSession(conf, uri, "0s", false, false, true))
        .contains("\"removed\":false", "Permission denied");
  }

  @Test
  void thereIsNothingToRecoverWhereThereIsNoTable() throws IOException {
    String nowhere = new Path(table, "nowhere").toString();

    assertThat(run(nowhere)).isEqualTo(1);
    String told = "There is nothing at " + nowhere + ": check the path";
    assertThat(text(err).trim()).isEqualTo("Recover: " + told);
    assertThat(text(out)).isEmpty();

    assertThat(run("--missing-ok", nowhere, table.toString())).isZero();
    assertThat(text(out).lines()).containsExactly(told, table + ": no unfinished commit");
    assertThatThrownBy(() -> Recover.ofSession(conf(), nowhere, false, false))
        .isInstanceOf(NothingThereException.class)
        .hasMessage(told);
  }

  @Test
  void aMissingConnectorIsNamed() {
    for (String[] one : new String[][] {{"abfs", "hadoop-azure:3."}, {"gs", "gcs-connector"}}) {
      err.reset();
      assertThat(run("-D", "fs." + one[0] + ".impl=x.Y", one[0] + "://no.connector/t"))
          .isEqualTo(1);
      assertThat(text(err))
          .startsWith("Recover: There is no FileSystem for " + one[0] + ":// on the class path")
          .contains("(x.Y is missing). It is in ", one[1]);
    }
  }

  @Test
  void wrongUsageIsTold() {
    assertThat(run()).isEqualTo(2);
    assertThat(text(err)).contains("a path is missing").contains("Usage: Recover");
    assertThat(run("--json", table.toString())).isEqualTo(2);
    assertThat(run("--help")).isZero();
    assertThat(text(out)).contains("Usage: Recover");
    assertThat(run("s3n://bucket/table")).isEqualTo(1);
    assertThat(text(err)).contains("s3n");
  }

  private void died() throws IOException {
    died(/* madeTable= */ false);
  }

  /** A job that renamed its only file and died. */
  private void died(boolean madeTable) throws IOException {
    Path source = new Path(root.sealed(), "p=2/new");
    Path destination = new Path(table, "p=2/new");
    store.mkdirs(source.getParent());
    store.write(source, content -> content.write("new".getBytes(StandardCharsets.UTF_8)));
    JobPlanner planner = new JobPlanner("job-1", new Target(table, root.root()));
    FileEntry file =
        new FileEntry(source, destination, 3, "", store.status(source).get().modificationTime());
    planner.publish(file);
    if (madeTable) {
      planner.makesTable();
    }
    try (JobPlan plan =
        planner.plan(new ExistingDirectories(Set.of(), Set.of()), List.of(), List.of())) {
      CommitJournal.write(store, root.attempt(), plan).begin();
    }
    store.mkdirs(destination.getParent());
    assertThat(store.renameFile(file).isDone()).isTrue();
  }

  private List<String> files() throws IOException {
    java.nio.file.Path directory = local.resolve("table");
    try (Stream<java.nio.file.Path> walk = Files.walk(directory)) {
      return walk.filter(Files::isRegularFile)
          .map(file -> directory.relativize(file).toString())
          .filter(name -> !name.endsWith(".crc"))
          .sorted()
          .toList();
    }
  }

  /** What is left stays for another try. */
  @Test
  void anErrorIsToldInOneLine() throws IOException {
    String uri = "mem://recover-error/table";
    MemoryStoreState state = MemoryFileSystem.state("recover-error");
    state.clear();
    state.mkdirs("/table");
    state.onRequest(Fault.at(1, Fate.BREAKS_BEFORE));
    String[] driver = {"-D", "fs.mem.impl=" + MemoryFileSystem.class.getName()};
    String[] served = {"-D", CommitterConfig.ATOMIC_RENAME_SCHEMES + "=mem"};

    assertThat(run(driver[0], driver[1], served[0], served[1], uri)).isEqualTo(1);

    assertThat(text(err))
        .startsWith("Recover: ")
        .contains("NoSuchMethodError", "jars of one release")
        .hasLineCount(1);
  }

  private int run(String... args) {
    try (PrintStream toOut = new PrintStream(out, true, StandardCharsets.UTF_8);
        PrintStream toErr = new PrintStream(err, true, StandardCharsets.UTF_8)) {
      List<String> all = new ArrayList<>();
      for (String setting : SETTINGS) {
        all.addAll(List.of("-D", setting));
      }
      all.addAll(List.of(args));
      return new Recover(toOut, toErr).run(all.toArray(new String[0]));
    }
  }

  private static Configuration conf() {
    Configuration conf = new Configuration();
    for (String setting : SETTINGS) {
      conf.set(setting.split("=", -1)[0], setting.split("=", -1)[1]);
    }
    return conf;
  }

  private static String text(ByteArrayOutputStream stream) {
    return stream.toString(StandardCharsets.UTF_8);
  }
}
