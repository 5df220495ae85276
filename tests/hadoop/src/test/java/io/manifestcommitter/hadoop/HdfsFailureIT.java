// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Job commits on HDFS that fail midway, and what a second try makes of them. */
class HdfsFailureIT extends OnHdfs {
  private static final String DELETE_TARGETS = "mapreduce.manifest.committer.delete.target.files";

  /** What the jobs here publish. */
  private static final Map<String, String> OUTPUT =
      Map.of("part-0", "zero", "p=1/part-0", "one", "p=1/part-1", "two", "q=2/r=3/part-1", "three");

  private static final String OLD_FILE = "p=1/of-another-job";

  @ParameterizedTest
  @ValueSource(strings = {"false", "true"})
  void aQuotaThatIsUsedUpIsNamedAndASecondTrySucceeds(String deleteTargets) throws Exception {
    TestJob job = writtenJob(conf(deleteTargets), "quota");
    Path partition = new Path(job.table, "p=1");
    // The directory itself and the old file: one more fits, the second does not.
    hdfs.fs().setQuota(partition, 3, HdfsConstants.QUOTA_DONT_SET);

    assertThatThrownBy(job::commitJob)
        .isInstanceOf(IOException.class)
        .hasStackTraceContaining("quota")
        .hasStackTraceContaining(partition.toUri().getPath());
    assertThat(hdfs.fs().exists(new Path(job.table, "_SUCCESS"))).isFalse();

    hdfs.fs().setQuota(partition, HdfsConstants.QUOTA_RESET, HdfsConstants.QUOTA_DONT_SET);
    job.commitJob();
    assertThat(hdfs.visibleFiles(job.table)).isEqualTo(expected());
  }

  @Test
  void safeModeIsNamedAndASecondTrySucceeds() throws Exception {
    TestJob job = writtenJob(conf("false"), "safe-mode");
    NameNodeAdapter.enterSafeMode(hdfs.cluster().getNameNode(), false);
    try {
      assertThatThrownBy(job::commitJob)
          .isInstanceOf(IOException.class)
          .hasStackTraceContaining("safe mode");
    } finally {
      NameNodeAdapter.leaveSafeMode(hdfs.cluster().getNameNode());
    }
    assertThat(hdfs.visibleFiles(job.table)).isEqualTo(Map.of(OLD_FILE, "old"));

    job.commitJob();

    assertThat(hdfs.visibleFiles(job.table)).isEqualTo(expected());
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

  private static Map<String, String> expected() {
    Map<String, String> files = new TreeMap<>(OUTPUT);
    files.put(OLD_FILE, "old");
    return files;
  }

  private static void commitAs(UserGroupInformation user, TestJob job) throws Exception {
    Hdfs.as(
        user,
        () -> {
          job.commitJob();
          return null;
        });
  }
}
