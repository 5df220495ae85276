// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.faults.Verdict.End;
import io.manifestcommitter.testing.HadoopCalls;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;

/** A job of the Hadoop protocol: each call goes to a committer of its own, made by the factory. */
final class HadoopTrial extends Trial {
  private static final String[] FIRST = {"p=1/a", "p=2/b"};
  private static final String[] SECOND = {"p=1/c", "p=3/x=1/d"};

  private final HadoopScenario scenario;
  private final Repair repair;
  private final Configuration conf;
  private final NavigableMap<String, String> published = new TreeMap<>();
  private JobID id = new JobID("202601010000", 1);
  private PathOutputCommitter acting;

  HadoopTrial(Lane lane, HadoopScenario scenario, Repair repair) {
    super(lane);
    this.scenario = scenario;
    this.repair = repair;
    this.conf = lane.conf();
    conf.setBoolean(CommitterConfig.DELETE_TARGET_FILES, scenario == HadoopScenario.REPLACE);
  }

  @Override
  void prepare() throws IOException {
    switch (scenario) {
      case NEW:
        oldTable("p=9/old");
        break;
      case REPLACE:
        oldTable("p=1/a", "p=9/old");
        break;
      default:
        oldTable("p=1/old", "p=2/old", "p=9/old");
    }
    if (scenario == HadoopScenario.SETUP) {
      acting = calls().jobCommitter();
      return;
    }
    calls().setupJob();
    runTask(1, 0, SECOND);
    if (scenario == HadoopScenario.TASK) {
      acting = calls().jobCommitter();
      return;
    }
    runTask(0, 0, FIRST);
    if (scenario == HadoopScenario.ABORT_HALF) {
      commitHalf();
    }
    acting = calls().jobCommitter();
  }

  /** A commit that the store ended at its second rename of data, by taking a right away. */
  private void commitHalf() throws IOException {
    FaultRule forbidden =
        FaultRule.on(lane.store().publishOperation()).path("/p=2/b$").always().refuse(403);
    lane.emulator().faults().add(forbidden);
    try {
      calls().commitJob();
    } catch (IOException e) {
      assertThat(visible()).hasSizeGreaterThan(old().size());
      return;
    } finally {
      lane.emulator().faults().clear();
    }
    throw new AssertionError("A commit whose rename was forbidden succeeded");
  }

  @Override
  void act() throws IOException {
    switch (scenario) {
      case SETUP:
        acting.setupJob(calls().jobContext());
        break;
      case TASK:
        acting.setupTask(calls().context(0, 0));
        writeFiles(acting, 0, FIRST, /* asTask= */ true);
        acting.commitTask(calls().context(0, 0));
        break;
      case ABORT:
      case ABORT_HALF:
        acting.abortJob(calls().jobContext(), JobStatus.State.FAILED);
        break;
      default:
        acting.commitJob(calls().jobContext());
    }
  }

  @Override
  Verdict judge(Optional<Exception> failure) throws IOException {
    switch (scenario) {
      case SETUP:
        return judgeSetup(failure);
      case TASK:
        return judgeTask(failure);
      case ABORT:
      case ABORT_HALF:
        return judgeAbort(failure);
      default:
        return judgeCommit(failure);
    }
  }

  private Verdict judgeSetup(Optional<Exception> failure) throws IOException {
    assertRows(old());
    if (failure.isPresent()) {
      abort();
      assertRolledBack();
      return runAgain(End.FAILED_CLEANLY);
    }
    runTask(0, 0, FIRST);
    runTask(1, 0, SECOND);
    calls().commitJob();
    return new Verdict(End.OK, assertCommitted());
  }

  private Verdict judgeTask(Optional<Exception> failure) throws IOException {
    assertRows(old());
    if (failure.isPresent()) {
      calls().abortTask(0, 0);
      for (String file : FIRST) {
        published.remove(file);
      }
      runTask(0, 1, "p=1/a", "p=2/of-the-second-attempt");
    }
    calls().commitJob();
    return new Verdict(failure.isPresent() ? End.FAILED_CLEANLY : End.OK, assertCommitted());
  }

  private Verdict judgeCommit(Optional<Exception> failure) throws IOException {
    if (!failure.isPresent()) {
      return new Verdict(End.OK, assertCommitted());
    }
    NavigableMap<String, String> left = visible();
    boolean claims = claims(id.toString());
    if (claims) {
      assertThat(left).as("reported as committed").isEqualTo(expected());
    }
    assertOldOrNew(left);
    assertForeignUntouched();
    boolean kept = !claims && left.equals(old());
    if (repair == Repair.COMMIT_AGAIN) {
      calls().commitJob();
      return new Verdict(kept ? End.FAILED_CLEANLY : End.REPAIRED, assertCommitted());
    }
    abort();
    if (claims) {
      return new Verdict(End.REPAIRED, assertCommitted());
    }
    assertRolledBack();
    return runAgain(kept ? End.FAILED_CLEANLY : End.REPAIRED);
  }

  private void assertOldOrNew(NavigableMap<String, String> left) {
    NavigableMap<String, String> old = old();
    NavigableMap<String, String> expected = expected();
    left.forEach((path, rows) -> assertThat(rows).as(path).isIn(old.get(path), expected.get(path)));
    if (scenario != HadoopScenario.REPLACE) {
      assertThat(left).containsAllEntriesOf(old);
    }
  }

  private Verdict judgeAbort(Optional<Exception> failure) throws IOException {
    assertThat(claims(id.toString())).isFalse();
    boolean kept = visible().equals(old());
    if (failure.isPresent()) {
      abort();
    }
    assertRolledBack();
    End failed = kept ? End.FAILED_CLEANLY : End.REPAIRED;
    return runAgain(failure.isPresent() ? failed : End.OK);
  }

  /** The whole job again, under another id. */
  private Verdict runAgain(End end) throws IOException {
    id = new JobID("202601010000", id.getId() + 1);
    published.clear();
    calls().setupJob();
    runTask(0, 0, FIRST);
    runTask(1, 0, SECOND);
    calls().commitJob();
    assertCommitted();
    return new Verdict(end, 0);
  }

  private long assertCommitted() throws IOException {
    long recovered = assertCommitted(id.toString(), expected(), published.size());
    assertNothingOfJobLeft();
    return recovered;
  }

  private void assertRolledBack() throws IOException {
    assertRows(old());
    assertThat(claims(id.toString())).isFalse();
    assertNothingOfJobLeft();
  }

  private void assertNothingOfJobLeft() {
    assertThat(hidden()).noneMatch(path -> path.contains("manifest_" + id));
  }

  private NavigableMap<String, String> expected() {
    NavigableMap<String, String> expected = old();
    expected.putAll(published);
    return expected;
  }

  private void abort() throws IOException {
    calls().abortJob();
  }

  private void runTask(int task, int attempt, String... files) throws IOException {
    PathOutputCommitter committer = calls().setupTask(task, attempt);
    writeFiles(committer, attempt, files, /* asTask= */ false);
    committer.commitTask(calls().context(task, attempt));
  }

  private void writeFiles(
      PathOutputCommitter committer, int attempt, String[] files, boolean asTask)
      throws IOException {
    for (String file : files) {
      String rows = rows(id + " attempt " + attempt, file);
      published.put(file, rows);
      Path staged = new Path(committer.getWorkPath(), file);
      if (asTask) {
        TableFiles.write(staged.getFileSystem(conf), staged, rows);
      } else {
        write(Map.of(relative(staged), rows));
      }
    }
  }

  private HadoopCalls calls() {
    return new HadoopCalls(conf, table, id);
  }
}
