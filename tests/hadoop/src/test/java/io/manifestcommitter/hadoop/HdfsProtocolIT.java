// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.TaskManifest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the Hadoop protocol promises, on HDFS, where nothing goes wrong but tasks. */
@ExtendWith(HdfsExtension.class)
class HdfsProtocolIT {
  private final Hdfs hdfs;

  HdfsProtocolIT(Hdfs hdfs) {
    this.hdfs = hdfs;
  }

  @ParameterizedTest
  @ValueSource(strings = {"false", "true"})
  void partitionsOfCommittedTasksBecomeVisibleInJobCommit(String parallelDelete) throws Exception {
    TestJob job =
        TestJob.start(hdfs.conf(), hdfs.newTable("partitions"))
            .with("mapreduce.manifest.committer.cleanup.parallel.delete", parallelDelete);
    for (int task = 0; task < 3; task++) {
      TestJob.Attempt attempt = job.attempt(task, 0);
      attempt.write("year=2026/month=1/part-" + task, "january " + task);
      attempt.write("year=2026/month=2/part-" + task, "february " + task);
      attempt.commit();
      assertThat(hdfs.visible(job.table())).isEmpty();
    }

    job.commit();

    assertThat(hdfs.visible(job.table()))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "year=2026/", "",
                "year=2026/month=1/", "",
                "year=2026/month=2/", "",
                "year=2026/month=1/part-0", "january 0",
                "year=2026/month=1/part-1", "january 1",
                "year=2026/month=1/part-2", "january 2",
                "year=2026/month=2/part-0", "february 0",
                "year=2026/month=2/part-1", "february 1",
                "year=2026/month=2/part-2", "february 2"));
    assertThat(hdfs.fs().exists(new Path(job.table(), "_temporary"))).isFalse();
  }

  /** The writer of an attempt that was given up goes on writing, and even tries to commit. */
  @Test
  void aZombieIsNeverSeen() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("zombie"));
    TestJob.Attempt zombie = job.attempt(0, 0);
    FSDataOutputStream open = zombie.open("p=1/open");
    open.write("begun".getBytes(StandardCharsets.UTF_8));
    open.hflush();
    // As MapReduce's application master does it: through a committer of its own.
    job.committer().abortTask(zombie.context());
    TestJob.Attempt second = job.attempt(0, 1);
    second.write("p=1/second", "second");
    second.commit();
    assertThatThrownBy(open::close).isInstanceOf(IOException.class);
    assertThatThrownBy(zombie::commit).isInstanceOf(IOException.class);
    zombie.write("p=1/before-commit", "before commit");

    job.commit();
    zombie.write("p=1/after-commit", "after commit");

    Map<String, String> expected = Map.of("p=1/", "", "p=1/second", "second");
    assertThat(hdfs.visible(job.table())).containsExactlyInAnyOrderEntriesOf(expected);
    TestJob next = TestJob.start(hdfs.conf(), job.table());
    next.commit();
    assertThat(hdfs.visible(job.table())).containsExactlyInAnyOrderEntriesOf(expected);
  }

  /** A path that other users of HDFS made is not the job's to replace. */
  @Test
  void aFileInTheWayFailsTheJobUnlessItMayBeDeleted() throws Exception {
    Path table = hdfs.newTable("in-the-way");
    hdfs.write(new Path(table, "part-0"), "old");
    TestJob job = TestJob.start(hdfs.conf(), table);
    job.task(0, "part-0", "new");

    assertThatThrownBy(job::commit)
        .isInstanceOf(IOException.class)
        .hasMessageContaining(new Path(table, "part-0").toString());
    assertThat(hdfs.visible(table)).containsExactlyInAnyOrderEntriesOf(Map.of("part-0", "old"));

    job.with("mapreduce.manifest.committer.delete.target.files", "true").commit();
    assertThat(hdfs.visible(table)).containsExactlyInAnyOrderEntriesOf(Map.of("part-0", "new"));
  }

  /** HDFS has no etags; its file ids are what tells two files of one length and time apart. */
  @Test
  void manifestsCarryTheIdentityThatHdfsGives() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("identity"));
    TestJob.Attempt attempt = job.attempt(0, 0);
    attempt.write("part-0", "content");
    FileStatus status = hdfs.fs().getFileStatus(new Path(attempt.workPath(), "part-0"));
    attempt.commit();

    Path manifest =
        new Path(
            job.manifests(), attempt.context().getTaskAttemptID().getTaskID() + "-manifest.json");
    TaskManifest parsed = TaskManifest.parse(hdfs.bytes(manifest), manifest.toString());
    assertThat(parsed.files()).hasSize(1);
    FileEntry file = parsed.files().get(0);
    assertThat(file.source()).isEqualTo(new Path(attempt.workPath(), "part-0"));
    assertThat(file.destination()).isEqualTo(new Path(job.table(), "part-0"));
    assertThat(file.size()).isEqualTo(7);
    assertThat(file.modificationTime()).isEqualTo(status.getModificationTime());
    assertThat(file.etag()).contains(Long.toString(((HdfsFileStatus) status).getFileId()));
  }
}
