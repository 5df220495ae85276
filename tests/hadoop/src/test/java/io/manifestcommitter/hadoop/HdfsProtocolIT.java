// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.ManifestCommitter;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.manifest.TaskManifest;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
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

  @Test
  void theReportSaysWhatWasCommitted() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("report"));
    job.task(0, "part-0", "12345");
    job.task(1, "part-1", "1234567");

    job.commit();

    SuccessReport report = hdfs.report(job.table());
    assertThat(report.success()).isTrue();
    assertThat(report.committer()).isEqualTo(ManifestCommitter.class.getName());
    assertThat(report.jobId()).isEqualTo(job.id());
    assertThat(report.jobIdSource()).isEqualTo("JobID");
    assertThat(report.filenames())
        .containsExactlyInAnyOrder(
            new Path(job.table(), "part-0").toUri().getPath(),
            new Path(job.table(), "part-1").toUri().getPath());
    assertThat(report.statistics().counters())
        .containsEntry("committer_files_committed", 2L)
        .containsEntry("committer_bytes_committed", 12L)
        .containsEntry("committer_tasks_completed", 2L);
  }

  @Test
  void recordWritersOfTextOutputFormatWriteToTheAttempt() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("records"));
    TestJob.Attempt attempt = job.attempt(0, 0);
    RecordWriter<Text, Text> writer =
        new TextOutputFormat<Text, Text>().getRecordWriter(attempt.context());
    writer.write(new Text("key"), new Text("value"));
    writer.close(attempt.context());
    attempt.commit();

    job.commit();

    assertThat(hdfs.visible(job.table()))
        .containsExactlyInAnyOrderEntriesOf(Map.of("part-m-00000", "key\tvalue\n"));
  }

  @Test
  void anAbortedTaskLeavesNothing() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("task-abort"));
    TestJob.Attempt dead = job.attempt(0, 0);
    dead.write("p=1/dead", "dead");
    dead.abort();
    assertThat(hdfs.fs().exists(dead.workPath())).isFalse();
    TestJob.Attempt second = job.attempt(0, 1);
    second.write("p=1/alive", "alive");
    second.commit();

    job.commit();

    assertThat(hdfs.visible(job.table()))
        .containsExactlyInAnyOrderEntriesOf(Map.of("p=1/", "", "p=1/alive", "alive"));
  }

  @Test
  void theLastAttemptThatCommittedIsTheTasks() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("two-attempts"));
    TestJob.Attempt first = job.attempt(0, 0);
    first.write("p=1/first", "first");
    TestJob.Attempt second = job.attempt(0, 1);
    second.write("p=2/second", "second");
    first.commit();
    second.commit();

    job.commit();

    assertThat(hdfs.visible(job.table()))
        .containsExactlyInAnyOrderEntriesOf(Map.of("p=2/", "", "p=2/second", "second"));
  }

  @Test
  void aTaskWithoutFilesCommits() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("no-files"));
    job.attempt(0, 0).commit();

    job.commit();

    assertThat(hdfs.visible(job.table())).isEmpty();
    assertThat(hdfs.report(job.table()).statistics().counters())
        .containsEntry("committer_tasks_completed", 1L);
  }

  @Test
  void namesThatNeedEscapingKeepTheirForm() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("names"));
    job.task(0, "name=a b%20c/ü+&\"'#?.txt", "odd");

    job.commit();

    assertThat(hdfs.visible(job.table()))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("name=a b%20c/", "", "name=a b%20c/ü+&\"'#?.txt", "odd"));
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

  /** A zombie that finds its directory again must not replace the manifest unseen after commit. */
  @Test
  void aTaskCommitAfterTheJobsCommitIsNeverSeen() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("late-commit"));
    TestJob.Attempt zombie = job.attempt(0, 0);
    zombie.write("zombie", "zombie");
    TestJob.Attempt second = job.attempt(0, 1);
    second.write("second", "second");
    second.commit();
    job.commit();

    assertThatThrownBy(zombie::commit).isInstanceOf(FileNotFoundException.class);

    assertThat(hdfs.visible(job.table()))
        .containsExactlyInAnyOrderEntriesOf(Map.of("second", "second"));
  }

  @Test
  void temporaryGoesWithTheLastJobThatIsInIt() throws Exception {
    Path table = hdfs.newTable("two-jobs");
    TestJob first = TestJob.start(hdfs.conf(), table);
    first.task(0, "first", "first");
    TestJob second = TestJob.start(hdfs.conf(), table);
    second.task(0, "second", "second");

    first.commit();

    assertThat(hdfs.fs().exists(first.directory())).isFalse();
    assertThat(hdfs.fs().exists(second.manifests())).isTrue();
    second.commit();
    assertThat(hdfs.fs().exists(new Path(table, "_temporary"))).isFalse();
    assertThat(hdfs.visible(table))
        .containsExactlyInAnyOrderEntriesOf(Map.of("first", "first", "second", "second"));
  }

  /** Their reports and lists of files are of one length, and nothing else about them is alike. */
  @Test
  void jobsThatLookAlikeCommitBesideEachOther() throws Exception {
    Path table = hdfs.newTable("look-alikes");
    TestJob first = TestJob.start(hdfs.conf(), table);
    first.task(0, "p=1/a", "a");
    TestJob second = TestJob.start(hdfs.conf(), table);
    second.task(0, "p=1/b", "b");

    first.commit();
    assertThat(hdfs.report(table).jobId()).isEqualTo(first.id());
    second.commit();
    assertThat(hdfs.report(table).jobId()).isEqualTo(second.id());

    assertThat(hdfs.visibleFiles(table)).isEqualTo(Map.of("p=1/a", "a", "p=1/b", "b"));
  }

  @Test
  void aJobThatAbortsLeavesTheOthersOutputAlone() throws Exception {
    Path table = hdfs.newTable("abort-beside");
    TestJob first = TestJob.start(hdfs.conf(), table);
    first.task(0, "p=1/first", "first");
    TestJob second = TestJob.start(hdfs.conf(), table);
    second.task(0, "p=1/second", "second");
    first.commit();

    second.abort();

    assertThat(hdfs.visible(table))
        .containsExactlyInAnyOrderEntriesOf(Map.of("p=1/", "", "p=1/first", "first"));
    assertThat(hdfs.fs().exists(new Path(table, "_temporary"))).isFalse();
    assertThat(hdfs.report(table).jobId()).isEqualTo(first.id());
  }

  @Test
  void anAbortedJobLeavesNothingVisible() throws Exception {
    TestJob job = TestJob.start(hdfs.conf(), hdfs.newTable("job-abort"));
    job.task(0, "p=1/part", "part");
    job.attempt(1, 0).write("p=2/part", "not committed");

    job.abort();

    assertThat(hdfs.visible(job.table())).isEmpty();
    assertThat(hdfs.fs().exists(new Path(job.table(), "_temporary"))).isFalse();
    assertThat(hdfs.fs().exists(new Path(job.table(), "_SUCCESS"))).isFalse();
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
