// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.RequestFaults;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.server.namenode.NameNodeAdapter;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Job commits on HDFS that fail midway, by injected faults and by real ones, and what a second try
 * or an abort by another committer instance makes of them.
 */
@ExtendWith(HdfsExtension.class)
class HdfsFailureIT {
  private static final String DELETE_TARGETS = "mapreduce.manifest.committer.delete.target.files";

  /** What the jobs here publish. */
  private static final Map<String, String> OUTPUT =
      Map.of("part-0", "zero", "p=1/part-0", "one", "p=1/part-1", "two", "q=2/r=3/part-1", "three");

  private static final String OLD_FILE = "p=1/of-another-job";

  private final Hdfs hdfs;

  HdfsFailureIT(Hdfs hdfs) {
    this.hdfs = hdfs;
  }

  @ParameterizedTest
  @ValueSource(strings = {"false", "true"})
  void aNewCommitterRollsBackACommitThatFailedMidway(String deleteTargets) throws Exception {
    int failed = 0;
    for (int at = 1; ; at++) {
      TestJob job = writtenJob(conf(deleteTargets), "abort-" + at);
      Map<String, String> before = hdfs.visible(job.table());
      if (!failsToCommit(job, Fate.FAILS_BEFORE, at)) {
        break;
      }
      failed++;

      job.abort();

      assertThat(hdfs.visible(job.table())).isEqualTo(before);
      assertThat(hdfs.fs().exists(new Path(job.table(), "_temporary"))).isFalse();
    }
    assertThat(failed).as("renames that failed").isGreaterThan(OUTPUT.size());
  }

  /** What is done counts, whatever the answer says. */
  @ParameterizedTest
  @EnumSource(names = {"FAILS_AFTER", "DONE_ANSWERS_FALSE"})
  void aRenameThatWasDoneIsProven(Fate fate) throws Exception {
    for (int at = 1; at <= OUTPUT.size(); at++) {
      TestJob job = writtenJob(conf("false"), "recovered-" + at);

      assertThat(commit(job, Fault.at(at, fate))).isEqualTo(1);

      assertThat(hdfs.visibleFiles(job.table())).isEqualTo(expected());
      assertThat(hdfs.report(job.table()).statistics().counters())
          .containsEntry("commit_file_rename_recovered", 1L);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"false", "true"})
  void aQuotaThatIsUsedUpIsNamedAndASecondTrySucceeds(String deleteTargets) throws Exception {
    TestJob job = writtenJob(conf(deleteTargets), "quota");
    Path partition = new Path(job.table(), "p=1");
    // The directory itself and the old file: one more fits, the second does not.
    hdfs.fs().setQuota(partition, 3, HdfsConstants.QUOTA_DONT_SET);

    assertThatThrownBy(job::commit)
        .isInstanceOf(IOException.class)
        .hasStackTraceContaining("quota")
        .hasStackTraceContaining(partition.toUri().getPath());
    assertThat(hdfs.fs().exists(new Path(job.table(), "_SUCCESS"))).isFalse();

    hdfs.fs().setQuota(partition, HdfsConstants.QUOTA_RESET, HdfsConstants.QUOTA_DONT_SET);
    job.commit();
    assertThat(hdfs.visibleFiles(job.table())).isEqualTo(expected());
  }

  @Test
  void safeModeIsNamedAndASecondTrySucceeds() throws Exception {
    TestJob job = writtenJob(conf("false"), "safe-mode");
    NameNodeAdapter.enterSafeMode(hdfs.cluster().getNameNode(), false);
    try {
      assertThatThrownBy(job::commit)
          .isInstanceOf(IOException.class)
          .hasStackTraceContaining("safe mode");
    } finally {
      NameNodeAdapter.leaveSafeMode(hdfs.cluster().getNameNode());
    }
    assertThat(hdfs.visibleFiles(job.table())).isEqualTo(Map.of(OLD_FILE, "old"));

    job.commit();

    assertThat(hdfs.visibleFiles(job.table())).isEqualTo(expected());
  }

  @Test
  void aDirectoryThatMayNotBeWrittenIsNamedAndASecondTrySucceeds() throws Exception {
    Path table = hdfs.newTable("permission");
    UserGroupInformation worker =
        UserGroupInformation.createUserForTesting("worker", new String[] {"workers"});
    hdfs.fs().mkdirs(table);
    hdfs.fs().setOwner(table, "worker", "workers");
    hdfs.write(new Path(table, OLD_FILE), "old");
    Path partition = new Path(table, "p=1");
    hdfs.fs().setPermission(partition, new FsPermission((short) 0755));
    TestJob job = Hdfs.as(worker, () -> writtenJob(conf("false"), table));

    assertThatThrownBy(() -> commitAs(worker, job))
        .isInstanceOf(IOException.class)
        .hasStackTraceContaining("Permission denied: user=worker")
        .hasStackTraceContaining(partition.toUri().getPath());

    hdfs.fs().setOwner(partition, "worker", "workers");
    commitAs(worker, job);
    assertThat(hdfs.visibleFiles(table)).isEqualTo(expected());
  }

  private Configuration conf(String deleteTargets) {
    Configuration conf = hdfs.conf();
    conf.set(DELETE_TARGETS, deleteTargets);
    // So that the renames before the failing one are done, and no others.
    conf.setInt("mapreduce.manifest.committer.io.threads", 1);
    return conf;
  }

  /** A job that has committed the tasks of {@link #OUTPUT} into a table with one old file. */
  private TestJob writtenJob(Configuration conf, String name) throws IOException {
    Path table = hdfs.newTable(name);
    hdfs.write(new Path(table, OLD_FILE), "old");
    return writtenJob(conf, table);
  }

  private static TestJob writtenJob(Configuration conf, Path table) throws IOException {
    TestJob job = TestJob.start(conf, table);
    List<String> names = new ArrayList<>(new TreeMap<>(OUTPUT).keySet());
    for (int task = 0; task < names.size(); task++) {
      job.task(task, names.get(task), OUTPUT.get(names.get(task)));
    }
    return job;
  }

  /**
   * Commits where from one publishing rename on none is done; says whether there was one, in which
   * case the commit failed.
   */
  private static boolean failsToCommit(TestJob job, Fate fate, int from) throws IOException {
    boolean[] isReached = {false};
    try {
      int injected =
          commit(
              job,
              (number, operation, path) -> {
                isReached[0] |= number >= from;
                return isReached[0] ? fate : Fate.NORMAL;
              });
      assertThat(injected).as("a commit that hides a failure").isZero();
    } catch (IOException e) {
      assertThat(isReached[0]).as("the commit failed by itself: " + e).isTrue();
    }
    return isReached[0];
  }

  /** Commits while the renames that publish go as a fault says; says how many went wrong. */
  private static int commit(TestJob job, Fault fault) throws IOException {
    Configuration conf = new Configuration(job.conf);
    try (RequestFaults faults = RequestFaults.bind(conf)) {
      faults.onRenamesTo(destination -> HaltingHdfs.publishes(conf, destination), fault);
      job.with(unused -> conf).commit();
      return faults.injected();
    }
  }

  private static Map<String, String> expected() {
    Map<String, String> files = new TreeMap<>(OUTPUT);
    files.put(OLD_FILE, "old");
    return files;
  }

  private static void commitAs(UserGroupInformation user, TestJob job) throws Exception {
    Hdfs.as(
        user,
        () -> {
          job.commit();
          return null;
        });
  }
}
