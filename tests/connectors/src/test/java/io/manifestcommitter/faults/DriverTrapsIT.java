// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.RequestLog;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What the connectors are known to get wrong. Each test shows first that the driver of this version
 * does so, by the emulator's log, and then that a job commit comes out right all the same.
 */
class DriverTrapsIT {
  /** The file of {@link HadoopTrial} that meets the fault. */
  private static final String FILE = "/p=2/b$";

  private static Lane abfs;
  private static Lane gs;

  @BeforeAll
  static void open() throws IOException {
    abfs = Lane.open(StoreUnderTest.ABFS);
    gs = Lane.open(StoreUnderTest.GS);
  }

  @AfterAll
  static void close() throws IOException {
    abfs.close();
    gs.close();
  }

  @AfterEach
  void noFaults() {
    abfs.emulator().faults().clear();
    gs.emulator().faults().clear();
  }

  /** Until 3.3.4; from 3.3.6 on (HADOOP-18606) the driver looks at the etag and recovers. */
  @Test
  void abfsRenameWhoseAnswerIsLostIsSentAgainAndThenNotFound() throws Exception {
    for (Supplier<FaultRule> lost :
        List.<Supplier<FaultRule>>of(
            () -> FaultRule.on("rename").path("/[bf]$").applyThenFail(500),
            () -> FaultRule.on("rename").path("/[bf]$").applyThenFail(503),
            () -> FaultRule.on("rename").path("/[bf]$").applyThenDrop())) {
      Driver driver = new Driver(abfs);
      boolean answer = driver.rename(lost.get());
      assertThat(driver.requests("rename")).hasSize(2).last().isEqualTo(404);
      driver.assertRenamed();
      assertThat(answer).isEqualTo(!StoreUnderTest.isHadoop33());

      Commit commit = new Commit(abfs, lost.get());
      assertThat(commit.requests("rename")).hasSize(2).last().isEqualTo(404);
      assertThat(commit.recovered()).isEqualTo(StoreUnderTest.isHadoop33() ? 1 : 0);
    }
  }

  @Test
  void abfsRenameThatIsDoneAndAnswered404AtOnce() throws Exception {
    Supplier<FaultRule> done = () -> FaultRule.on("rename").path("/[bf]$").applyThenFail(404);
    Driver driver = new Driver(abfs);
    assertThat(driver.rename(done.get())).isFalse();
    assertThat(driver.requests("rename")).containsExactly(404);
    driver.assertRenamed();

    Commit commit = new Commit(abfs, done.get());
    assertThat(commit.requests("rename")).containsExactly(404);
    assertThat(commit.recovered()).isEqualTo(1);
  }

  /**
   * 3.3 does not make the missing parent. Later ones do, rename the file, and answer with the
   * failure of the first request.
   */
  @Test
  void abfsRenameThatMissesItsParentOnce() throws Exception {
    Supplier<FaultRule> missing =
        () ->
            FaultRule.on("rename")
                .path("/[bf]$")
                .refuse(404, "RenameDestinationParentPathNotFound");
    Driver driver = new Driver(abfs);
    assertThat(driver.rename(missing.get())).isFalse();
    if (StoreUnderTest.isHadoop33()) {
      assertThat(driver.requests("rename")).containsExactly(404);
      driver.assertNotRenamed();
    } else {
      assertThat(driver.requests("rename")).containsExactly(404, 201);
      driver.assertRenamed();
    }

    Commit commit = new Commit(abfs, missing.get());
    assertThat(commit.requests("rename")).containsExactly(404, 201);
    assertThat(commit.recovered()).isEqualTo(StoreUnderTest.isHadoop33() ? 0 : 1);
  }

  /** 3.3 does not retry it; 3.5.0 does, as it does 503. */
  @Test
  void abfsRequestThatIsRefusedWith429() throws Exception {
    Supplier<FaultRule> throttled = () -> FaultRule.on("rename").path("/[bf]$").refuse(429);
    Driver driver = new Driver(abfs);
    if (StoreUnderTest.isHadoop33()) {
      assertThatThrownBy(() -> driver.rename(throttled.get())).hasMessageContaining("429");
      assertThat(driver.requests("rename")).containsExactly(429);
      driver.assertNotRenamed();
    } else {
      assertThat(driver.rename(throttled.get())).isTrue();
      assertThat(driver.requests("rename")).containsExactly(429, 201);
    }

    Commit commit = new Commit(abfs, throttled.get());
    assertThat(commit.requests("rename")).containsExactly(429, 201);
    assertThat(commit.recovered()).isZero();

    int longer = StoreUnderTest.ABFS.tries() + 1;
    Commit patient = new Commit(abfs, FaultRule.on("rename").path(FILE).times(longer).refuse(429));
    assertThat(patient.requests("rename")).hasSize(longer + 1).endsWith(429, 201);
    assertThat(patient.recovered()).isZero();
  }

  /** The JDK sends a DELETE again, once, unasked, when its connection is dropped. */
  @Test
  void abfsDeletionThatIsSentAgainIsNotFound() throws Exception {
    Driver driver = new Driver(abfs);
    driver.prepare();
    abfs.emulator().faults().add(FaultRule.on("delete").applyThenDrop());
    assertThat(driver.delete()).isFalse();
    assertThat(driver.requests("delete")).containsExactly(0, 404);
    driver.assertDeleted();

    Commit commit =
        new Commit(abfs, FaultRule.on("delete").path("/_temporary/manifest_job").applyThenDrop());
    assertThat(commit.recovered()).isZero();
    assertThat(commit.all("delete")).startsWith(0, 404);
  }

  /** The move is made again after a failure, and finds its source gone. */
  @Test
  void gsMoveThatIsDoneAndAnsweredFalse() throws Exception {
    for (Supplier<FaultRule> lost :
        List.<Supplier<FaultRule>>of(
            () -> FaultRule.on("move").path("/[bf]$").applyThenFail(503),
            () -> FaultRule.on("move").path("/[bf]$").applyThenDrop())) {
      Driver driver = new Driver(gs);
      assertThat(driver.rename(lost.get())).isFalse();
      assertThat(driver.requests("move")).hasSize(2).last().isEqualTo(404);
      driver.assertRenamed();

      Commit commit = new Commit(gs, lost.get());
      assertThat(commit.requests("move")).hasSize(2).last().isEqualTo(404);
      assertThat(commit.recovered()).isEqualTo(1);
    }
  }

  @Test
  void gsMoveThatIsDoneAndAnswered412() throws Exception {
    Supplier<FaultRule> done = () -> FaultRule.on("move").path("/[bf]$").applyThenFail(412);
    Driver driver = new Driver(gs);
    assertThat(driver.rename(done.get())).isFalse();
    assertThat(driver.requests("move")).containsExactly(412);
    driver.assertRenamed();

    assertThat(new Commit(gs, done.get()).recovered()).isEqualTo(1);
  }

  /** hadoop-azure's rename for committers: no look at either end, and none is needed. */
  @Test
  void abfsCommitOfAFileIsOneRequestFromHadoop335On() throws Exception {
    assumeThat(StoreUnderTest.isHadoop33())
        .as("hadoop-azure 3.3.4 has no rename for committers")
        .isFalse();
    Driver driver = new Driver(abfs);
    assertThat(driver.rename(FaultRule.on("nothing").drop())).isTrue();
    assertThat(driver.all()).hasSizeGreaterThan(1);

    Commit commit = new Commit(abfs, FaultRule.on("nothing").drop());
    assertThat(commit.all()).containsExactly(201);

    Commit lost = new Commit(abfs, FaultRule.on("rename").path(FILE).applyThenDrop());
    assertThat(lost.requests("rename")).containsExactly(0, 404);
    assertThat(lost.all()).as("with one look at the destination").containsExactly(0, 404, 200);
  }

  private static List<RequestLog.Entry> log(Lane lane) {
    return lane.emulator().log().entries();
  }

  private static List<Integer> statuses(List<RequestLog.Entry> entries) {
    return entries.stream().map(RequestLog.Entry::status).collect(Collectors.toList());
  }

  /** The driver alone: one file, asked for through Hadoop's FileSystem. */
  private static final class Driver {
    private final Lane lane;
    private final Path table;
    private final String directory;
    private List<RequestLog.Entry> entries;

    Driver(Lane lane) {
      this.lane = lane;
      this.table = lane.newTable();
      this.directory = table.toUri().getPath() + "/";
    }

    void prepare() throws IOException {
      lane.raw().write(directory + "from/f", "rows");
      lane.raw().write(directory + "to/other", "rows");
    }

    boolean rename(FaultRule rule) throws IOException, InterruptedException {
      prepare();
      lane.emulator().faults().add(rule);
      return ask(fs -> fs.rename(new Path(table, "from/f"), new Path(table, "to/f")));
    }

    boolean delete() throws IOException, InterruptedException {
      return ask(fs -> fs.delete(new Path(table, "from/f"), false));
    }

    private boolean ask(Request request) throws IOException, InterruptedException {
      return lane.run(
          () -> {
            FileSystem fs = table.getFileSystem(lane.conf());
            lane.emulator().log().clear();
            try {
              return request.of(fs);
            } finally {
              entries = log(lane);
              lane.emulator().faults().clear();
            }
          });
    }

    List<Integer> requests(String operation) {
      return statuses(
          entries.stream()
              .filter(entry -> entry.operation().equals(operation))
              .collect(Collectors.toList()));
    }

    List<Integer> all() {
      return statuses(entries);
    }

    void assertRenamed() {
      assertThat(lane.raw().below(directory)).contains("to/f").doesNotContain("from/f");
    }

    void assertNotRenamed() {
      assertThat(lane.raw().below(directory)).contains("from/f").doesNotContain("to/f");
    }

    void assertDeleted() {
      assertThat(lane.raw().below(directory)).doesNotContain("from/f");
    }
  }

  private interface Request {
    boolean of(FileSystem fs) throws IOException;
  }

  /** A job commit of the Hadoop protocol that has to succeed, with exactly its rows. */
  private static final class Commit {
    private final List<RequestLog.Entry> entries;
    private final Verdict verdict;

    Commit(Lane lane, FaultRule rule) throws IOException, InterruptedException {
      Trial trial = HadoopScenario.NEW.trial(lane, Repair.COMMIT_AGAIN);
      entries =
          lane.run(
              () -> {
                trial.prepare();
                lane.emulator().faults().add(rule);
                lane.emulator().log().clear();
                trial.act();
                return log(lane);
              });
      lane.emulator().faults().clear();
      verdict = lane.run(() -> trial.judge(Optional.empty()));
    }

    /** The answers to the requests for the file that met the fault. */
    List<Integer> requests(String operation) {
      return statuses(
          entries.stream()
              .filter(entry -> entry.operation().equals(operation))
              .filter(entry -> entry.path().endsWith("/p=2/b"))
              .collect(Collectors.toList()));
    }

    /** The answers to all requests of a kind. */
    List<Integer> all(String operation) {
      return statuses(
          entries.stream()
              .filter(entry -> entry.operation().equals(operation))
              .collect(Collectors.toList()));
    }

    /** The answers to all requests for the file. */
    List<Integer> all() {
      return statuses(
          entries.stream()
              .filter(entry -> entry.path().endsWith("/p=2/b"))
              .collect(Collectors.toList()));
    }

    long recovered() {
      return verdict.recovered();
    }
  }
}
