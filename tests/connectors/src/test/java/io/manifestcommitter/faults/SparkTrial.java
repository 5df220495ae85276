// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.faults.Verdict.End;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.RecoveryOutcome;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.spark.ManifestCommitProtocol;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkCalls;
import io.manifestcommitter.testing.TableFiles;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;

/** A job of the Spark protocol, called as Spark calls it, without a Spark. */
final class SparkTrial extends Trial {
  private static final String[] FIRST = {"p=1", "p=2"};
  private static final String[] SECOND = {"p=1", "p=3/x=1"};

  private final SparkScenario scenario;
  private final Configuration conf;
  private Write write;
  private SparkCalls.Attempt attempt;
  private boolean leavesUploads;

  SparkTrial(Lane lane, SparkScenario scenario) {
    super(lane);
    this.scenario = scenario.kind();
    this.conf = lane.conf();
    if (scenario.isByFile()) {
      conf.set(CommitterConfig.DIRECTORY_RENAME, "off");
    }
  }

  @Override
  void prepare() throws IOException {
    if (scenario == SparkScenario.NEW) {
      oldTable("p=9/old");
    } else {
      oldTable("p=1/old", "p=2/old", "p=9/old");
    }
    write = new Write(1);
    if (scenario == SparkScenario.SETUP) {
      return;
    }
    write.setUp();
    write.runTask(1, 0, SECOND);
    if (scenario == SparkScenario.TASK_ABORT) {
      write.writeFiles(0, 0, FIRST, /* asTask= */ false);
    } else if (scenario != SparkScenario.TASK) {
      write.runTask(0, 0, FIRST);
    }
  }

  @Override
  void act() throws IOException {
    switch (scenario) {
      case SETUP:
        write.setUp();
        break;
      case TASK:
        try {
          write.commitTask(write.writeFiles(0, 0, FIRST, /* asTask= */ true));
        } catch (IOException e) {
          attempt.abort();
          throw e;
        }
        break;
      case TASK_ABORT:
        attempt.abort();
        break;
      case ABORT:
        write.calls.abort();
        break;
      default:
        write.commit();
    }
  }

  @Override
  Verdict judge(Optional<Exception> failure) throws IOException {
    switch (scenario) {
      case SETUP:
        return judgeSetup(failure);
      case TASK:
      case TASK_ABORT:
        return judgeTask(failure);
      case ABORT:
        assertRows(old());
        assertThat(text("_SUCCESS")).isEqualTo(LAST_REPORT);
        return runAgain(write.hasStaging() ? End.FAILED_CLEANLY : End.OK);
      default:
        return judgeCommit(failure);
    }
  }

  private Verdict judgeSetup(Optional<Exception> failure) throws IOException {
    assertRows(old());
    assertThat(text("_SUCCESS")).isEqualTo(LAST_REPORT);
    if (failure.isPresent()) {
      return runAgain(End.FAILED_CLEANLY);
    }
    write.runTask(0, 0, FIRST);
    write.runTask(1, 0, SECOND);
    write.commit();
    return new Verdict(End.OK, write.assertCommitted());
  }

  private Verdict judgeTask(Optional<Exception> failure) throws IOException {
    assertRows(old());
    if (failure.isPresent() || scenario == SparkScenario.TASK_ABORT) {
      write.runTask(0, 1, FIRST);
    }
    write.commit();
    return new Verdict(failure.isPresent() ? End.FAILED_CLEANLY : End.OK, write.assertCommitted());
  }

  private Verdict judgeCommit(Optional<Exception> failure) throws IOException {
    if (!failure.isPresent()) {
      return new Verdict(End.OK, write.assertCommitted());
    }
    if (write.claims()) {
      assertThat(visible()).as("reported as committed").isEqualTo(write.expected());
    }
    write.calls.abort();
    assertForeignUntouched();
    if (write.hasStaging()) {
      return recover(Failures.trace(failure.get()));
    }
    assertRows(old());
    assertThat(write.claims()).isFalse();
    return runAgain(End.FAILED_CLEANLY);
  }

  /** As the failure tells its user; past the commit mark what is left is the new table. */
  private Verdict recover(String failure) throws IOException {
    assertThat(failure).contains("manifest-committer recover " + table);
    Recovery recovery = Recoveries.of(conf, true);
    List<StagingRoot> unfinished = recovery.find(table);
    if (lane.store() == StoreUnderTest.S3A && hidden().stream().noneMatch(SparkTrial::isJournal)) {
      // The driver could not ask whether it had begun: it had not.
      assertThat(unfinished).isEmpty();
      assertRows(old());
      assertThat(write.claims()).isFalse();
      leavesUploads = true;
      write.goesSilent();
      return runAgain(End.FAILED_CLEANLY);
    }
    assertThat(unfinished).as("unfinished commits").hasSize(1);
    RecoveryOutcome outcome = recovery.run(unfinished.get(0), Recovery.Direction.AS_MARKED);
    assertThat(recovery.find(table)).isEmpty();
    assertForeignUntouched();
    if (outcome == RecoveryOutcome.ROLLED_BACK) {
      assertRows(old());
      assertThat(write.claims()).isFalse();
    } else {
      write.assertCommitted();
    }
    return runAgain(End.REPAIRED);
  }

  private static boolean isJournal(String path) {
    return path.contains("/journal-");
  }

  @Override
  void assertNoUploads() {
    if (!leavesUploads) {
      super.assertNoUploads();
    }
  }

  /** The whole job again, as a scheduler does it. */
  private Verdict runAgain(End end) throws IOException {
    write = new Write(2);
    write.setUp();
    write.runTask(0, 0, FIRST);
    write.runTask(1, 0, SECOND);
    write.commit();
    write.assertCommitted();
    return new Verdict(end, 0);
  }

  /** One write of the job's rows. */
  private final class Write {
    private final String id;
    private final SparkCalls calls;
    private final List<TaskCommitMessage> messages = new ArrayList<>();
    private final NavigableMap<String, String> published = new TreeMap<>();

    Write(int number) {
      id = "0b5d8ab4-7f3c-4a53-a4a7-7b6d8e3f1c1" + number;
      calls =
          new SparkCalls(
              new ManifestCommitProtocol(id, table.toString(), scenario == SparkScenario.DYNAMIC),
              id,
              conf);
    }

    void setUp() throws IOException {
      if (scenario == SparkScenario.STATIC) {
        calls.replace(table);
      }
      calls.setUp();
    }

    void runTask(int task, int number, String... partitions) throws IOException {
      commitTask(writeFiles(task, number, partitions, /* asTask= */ false));
    }

    /** Writes a file into each partition; says which, relative to the table, with their rows. */
    NavigableMap<String, String> writeFiles(
        int task, int number, String[] partitions, boolean asTask) throws IOException {
      attempt = calls.attempt(task, number);
      NavigableMap<String, String> files = new TreeMap<>();
      for (String partition : partitions) {
        Path staged = attempt.newFile(partition, ".txt");
        String file = partition + "/" + staged.getName();
        String rows = rows(id, file);
        files.put(file, rows);
        if (asTask || !staged.toUri().getScheme().equals(table.toUri().getScheme())) {
          TableFiles.write(staged.getFileSystem(conf), staged, rows);
        } else {
          write(Map.of(relative(staged), rows));
        }
      }
      return files;
    }

    void commitTask(NavigableMap<String, String> files) {
      TaskCommitMessage message = attempt.commitApproved();
      messages.add(message);
      calls.committed(message);
      published.putAll(files);
    }

    void commit() {
      calls.commit(messages);
    }

    boolean claims() throws IOException {
      return SparkTrial.this.claims(id);
    }

    boolean hasStaging() {
      return hidden().stream().anyMatch(path -> path.startsWith("_manifest_" + id));
    }

    /**
     * As after a heartbeat's timeout: until then another job waits where this one left its note.
     */
    void goesSilent() throws IOException {
      Path root = new StagingRoot(table, id).root();
      assertThat(table.getFileSystem(conf).delete(new Path(root, "heartbeat"), false)).isTrue();
    }

    NavigableMap<String, String> expected() {
      TableWrite write =
          scenario == SparkScenario.STATIC
              ? TableWrite.replacing("")
              : scenario == SparkScenario.DYNAMIC ? TableWrite.dynamic() : TableWrite.append();
      return write.with(published).after(old());
    }

    long assertCommitted() throws IOException {
      return SparkTrial.this.assertCommitted(id, expected(), published.size());
    }
  }
}
