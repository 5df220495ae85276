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

/** What the Hadoop protocol promises, on HDFS, where nothing goes wrong but tasks. */
class HdfsProtocolIT extends OnHdfs {
  /** The writer of an attempt that was given up goes on writing, and even tries to commit. */
  @Test
  void aZombieIsNeverSeen() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("zombie"));
    TestJob.Attempt zombie = job.attempt(0, 0);
    FSDataOutputStream open = hdfs.fs().create(new Path(zombie.workPath(), "p=1/open"), false);
    open.write("begun".getBytes(StandardCharsets.UTF_8));
    open.hflush();
    // As MapReduce's application master does it: through a committer of its own.
    job.jobCommitter().abortTask(zombie.context());
    TestJob.Attempt second = job.attempt(0, 1).write("p=1/second", "second");
    second.commit();
    assertThatThrownBy(open::close).isInstanceOf(IOException.class);
    assertThatThrownBy(zombie::commit).isInstanceOf(IOException.class);
    zombie.write("p=1/before-commit", "before commit");

    job.commitJob();
    zombie.write("p=1/after-commit", "after commit");

    Map<String, String> expected = Map.of("p=1/", "", "p=1/second", "second");
    assertThat(hdfs.visible(job.table)).containsExactlyInAnyOrderEntriesOf(expected);
    TestJob next = TestJob.start(hdfs.conf(), job.table);
    next.commitJob();
    assertThat(hdfs.visible(job.table)).containsExactlyInAnyOrderEntriesOf(expected);
  }

  /** HDFS has no etags; its file ids are what tells two files of one length and time apart. */
  @Test
  void manifestsCarryTheIdentityThatHdfsGives() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("identity"));
    TestJob.Attempt attempt = job.attempt(0, 0).write("part-0", "content");
    FileStatus status = hdfs.fs().getFileStatus(new Path(attempt.workPath(), "part-0"));
    attempt.commit();

    Path manifest =
        new Path(
            new Path(job.directory(), "00/manifests"),
            attempt.context().getTaskAttemptID().getTaskID() + "-manifest.json");
    TaskManifest parsed = TaskManifest.parse(hdfs.bytes(manifest), manifest.toString());
    assertThat(parsed.files).hasSize(1);
    FileEntry file = parsed.files.get(0);
    assertThat(file.source()).isEqualTo(new Path(attempt.workPath(), "part-0"));
    assertThat(file.destination()).isEqualTo(new Path(job.table, "part-0"));
    assertThat(file.size()).isEqualTo(7);
    assertThat(file.modificationTime()).isEqualTo(status.getModificationTime());
    assertThat(file.etag()).contains(Long.toString(((HdfsFileStatus) status).getFileId()));
  }
}
