// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.RequestLog;
import io.manifestcommitter.faults.FaultsIT.Job;
import io.manifestcommitter.faults.FaultsIT.Writes;
import io.manifestcommitter.faults.FaultyStore.Kind;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What the connectors are known to get wrong. Each test shows first that the driver of this version
 * does so, by the emulator's log, and then that a job commit comes out right all the same.
 */
class DriverTrapsIT {
  /** The file of a job, or of the driver alone, that meets the fault. */
  private static final String FILE = "/(p=2/new|to/new)$";

  private static FaultyStore abfs;
  private static FaultyStore gs;

  @BeforeAll
  static void open() throws IOException {
    abfs = FaultyStore.open(Kind.ABFS);
    gs = FaultyStore.open(Kind.GS);
  }

  @AfterAll
  static void close() throws IOException {
    abfs.close();
    gs.close();
  }

  /** Until 3.3.4; from 3.3.6 on (HADOOP-18606) the driver looks at the etag and recovers. */
  @Test
  void abfsRenameWhoseAnswerIsLostIsSentAgainAndThenNotFound() throws Exception {
    for (Supplier<FaultRule> lost :
        List.<Supplier<FaultRule>>of(
            () -> FaultRule.on("rename").path(FILE).applyThenFail(500),
            () -> FaultRule.on("rename").path(FILE).applyThenFail(503),
            () -> FaultRule.on("rename").path(FILE).applyThenDrop())) {
      Driver driver = new Driver(abfs);
      boolean answer = driver.rename(lost.get());
      assertThat(driver.requests("rename")).hasSize(2).last().isEqualTo(404);
      assertThat(driver.files()).contains("to/new").doesNotContain("from/new");
      assertThat(answer).isEqualTo(!FaultyStore.isHadoop33());

      Commit commit = new Commit(abfs, lost.get());
      assertThat(commit.requests("rename")).hasSize(2).last().isEqualTo(404);
      assertThat(commit.recovered()).isEqualTo(FaultyStore.isHadoop33() ? 1 : 0);
    }
  }

  @Test
  void abfsRenameThatIsDoneAndAnswered404AtOnce() throws Exception {
    Supplier<FaultRule> done = () -> FaultRule.on("rename").path(FILE).applyThenFail(404);
    Driver driver = new Driver(abfs);
    assertThat(driver.rename(done.get())).isFalse();
    assertThat(driver.requests("rename")).containsExactly(404);
    assertThat(driver.files()).contains("to/new").doesNotContain("from/new");

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
        () -> FaultRule.on("rename").path(FILE).refuse(404, "RenameDestinationParentPathNotFound");
    Driver driver = new Driver(abfs);
    assertThat(driver.rename(missing.get())).isFalse();
    if (FaultyStore.isHadoop33()) {
      assertThat(driver.requests("rename")).containsExactly(404);
      assertThat(driver.files()).contains("from/new").doesNotContain("to/new");
    } else {
      assertThat(driver.requests("rename")).containsExactly(404, 201);
      assertThat(driver.files()).contains("to/new").doesNotContain("from/new");
    }

    Commit commit = new Commit(abfs, missing.get());
    assertThat(commit.requests("rename")).containsExactly(404, 201);
    assertThat(commit.recovered()).isEqualTo(FaultyStore.isHadoop33() ? 0 : 1);
  }

  /** 3.3 does not retry it; 3.5.0 does, as it does 503. */
  @Test
  void abfsRequestThatIsRefusedWith429() throws Exception {
    Supplier<FaultRule> throttled = () -> FaultRule.on("rename").path(FILE).refuse(429);
    Driver driver = new Driver(abfs);
    if (FaultyStore.isHadoop33()) {
      assertThatThrownBy(() -> driver.rename(throttled.get())).hasMessageContaining("429");
      assertThat(driver.requests("rename")).containsExactly(429);
      assertThat(driver.files()).contains("from/new").doesNotContain("to/new");
    } else {
      assertThat(driver.rename(throttled.get())).isTrue();
      assertThat(driver.requests("rename")).containsExactly(429, 201);
    }

    Commit commit = new Commit(abfs, throttled.get());
    assertThat(commit.requests("rename")).containsExactly(429, 201);
    assertThat(commit.recovered()).isZero();

    int longer = Kind.ABFS.tries() + 1;
    Commit patient = new Commit(abfs, FaultRule.on("rename").path(FILE).times(longer).refuse(429));
    assertThat(patient.requests("rename")).hasSize(longer + 1).endsWith(429, 201);
    assertThat(patient.recovered()).isZero();
  }

  /** The JDK sends a DELETE again, once, unasked, when its connection is dropped. */
  @Test
  void abfsDeletionThatIsSentAgainIsNotFound() throws Exception {
    Driver driver = new Driver(abfs);
    assertThat(driver.delete(FaultRule.on("delete").applyThenDrop())).isFalse();
    assertThat(driver.requests("delete")).containsExactly(0, 404);
    assertThat(driver.files()).doesNotContain("from/new");

    Commit commit =
        new Commit(abfs, FaultRule.on("delete").path("/_temporary/manifest_job").applyThenDrop());
    assertThat(commit.recovered()).isZero();
    assertThat(commit.ofAllFiles("delete")).startsWith(0, 404);
  }

  /** The move is made again after a failure, and finds its source gone. */
  @Test
  void gsMoveThatIsDoneAndAnsweredFalse() throws Exception {
    for (Supplier<FaultRule> lost :
        List.<Supplier<FaultRule>>of(
            () -> FaultRule.on("move").path(FILE).applyThenFail(503),
            () -> FaultRule.on("move").path(FILE).applyThenDrop())) {
      Driver driver = new Driver(gs);
      assertThat(driver.rename(lost.get())).isFalse();
      assertThat(driver.requests("move")).hasSize(2).last().isEqualTo(404);
      assertThat(driver.files()).contains("to/new").doesNotContain("from/new");

      Commit commit = new Commit(gs, lost.get());
      assertThat(commit.requests("move")).hasSize(2).last().isEqualTo(404);
      assertThat(commit.recovered()).isEqualTo(1);
    }
  }

  @Test
  void gsMoveThatIsDoneAndAnswered412() throws Exception {
    Supplier<FaultRule> done = () -> FaultRule.on("move").path(FILE).applyThenFail(412);
    Driver driver = new Driver(gs);
    assertThat(driver.rename(done.get())).isFalse();
    assertThat(driver.requests("move")).containsExactly(412);
    assertThat(driver.files()).contains("to/new").doesNotContain("from/new");

    assertThat(new Commit(gs, done.get()).recovered()).isEqualTo(1);
  }

  /** hadoop-azure's rename for committers: no look at either end, and none is needed. */
  @Test
  void abfsCommitOfAFileIsOneRequestFromHadoop335On() throws Exception {
    assumeThat(FaultyStore.isHadoop33())
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

  /** What one call made of requests, and how each was answered. */
  private abstract static class Call {
    final FaultyStore store;
    private List<RequestLog.Entry> entries = List.of();

    Call(FaultyStore store) {
      this.store = store;
    }

    final <T> T run(FaultRule rule, PrivilegedExceptionAction<T> action)
        throws IOException, InterruptedException {
      try {
        return store.run(List.of(rule), action);
      } finally {
        entries = store.requests();
      }
    }

    /** The answers to the requests for the file that met the fault. */
    final List<Integer> requests(String operation) {
      return statuses(entry -> isOfFile(entry) && entry.operation().equals(operation));
    }

    /** The answers to all requests for the file. */
    final List<Integer> all() {
      return statuses(Call::isOfFile);
    }

    /** The answers to all requests of a kind. */
    final List<Integer> ofAllFiles(String operation) {
      return statuses(entry -> entry.operation().equals(operation));
    }

    private static boolean isOfFile(RequestLog.Entry entry) {
      return entry.path().matches(".*/(p=2|from|to)/new");
    }

    private List<Integer> statuses(Predicate<RequestLog.Entry> which) {
      return entries.stream().filter(which).map(RequestLog.Entry::status).toList();
    }
  }

  /** The driver alone: one file, asked for through Hadoop's FileSystem. */
  private static final class Driver extends Call {
    private final Path table;
    private final Path from;

    Driver(FaultyStore store) throws IOException, InterruptedException {
      super(store);
      this.table = store.newTable();
      this.from = new Path(table, "from/new");
      store.run(
          () -> {
            TableFiles.write(fs(), from, "rows");
            TableFiles.write(fs(), new Path(table, "to/other"), "rows");
            return null;
          });
    }

    boolean rename(FaultRule rule) throws IOException, InterruptedException {
      return run(rule, () -> fs().rename(from, new Path(table, "to/new")));
    }

    boolean delete(FaultRule rule) throws IOException, InterruptedException {
      return run(rule, () -> fs().delete(from, false));
    }

    List<String> files() {
      return store.below(table);
    }

    private FileSystem fs() throws IOException {
      return table.getFileSystem(store.conf());
    }
  }

  /** A job commit of the Hadoop protocol that has to succeed, with exactly its rows. */
  private static final class Commit extends Call {
    private final long recovered;

    Commit(FaultyStore store, FaultRule rule) throws IOException, InterruptedException {
      super(store);
      Job job = store.run(() -> new Job(store, Writes.HADOOP));
      run(rule, job::commit);
      store.run(job::assertCommitted);
      recovered = store.run(job::recovered);
    }

    long recovered() {
      return recovered;
    }
  }
}
