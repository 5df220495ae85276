// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.ManifestCommitter;
import io.manifestcommitter.hadoop.Hdfs.HdfsExtension;
import io.manifestcommitter.hadoop.WordCount.FirstAttempt;
import io.manifestcommitter.hadoop.WordCount.HaltingHdfs;
import io.manifestcommitter.hadoop.WordCount.HaltingHdfs.Moment;
import io.manifestcommitter.hadoop.Yarn.YarnExtension;
import io.manifestcommitter.manifest.SuccessReport;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobCounter;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** MapReduce jobs, run by the local runner and by YARN, that write to HDFS. */
@ExtendWith({HdfsExtension.class, YarnExtension.class})
class MapReduceIT {
  private static final Map<String, Long> COUNTS = Map.of("a", 3L, "b", 2L, "c", 1L);
  private static final int WORDS = 6;

  private final Hdfs hdfs;
  private final Yarn yarn;

  MapReduceIT(Hdfs hdfs, Yarn yarn) {
    this.hdfs = hdfs;
    this.yarn = yarn;
  }

  @Test
  void theLocalRunnersJobIsCommitted() throws Exception {
    Path table = hdfs.newTable("local");
    Job job = WordCount.job(hdfs.conf(), input(), table, 1);

    assertThat(job.waitForCompletion(false)).isTrue();

    assertThat(counts(table)).isEqualTo(COUNTS);
    assertCommitted(job, table, 1, 3);
    assertThat(counter(job, TaskCounter.MAP_INPUT_RECORDS)).isEqualTo(3);
    assertThat(counter(job, TaskCounter.REDUCE_OUTPUT_RECORDS)).isEqualTo(COUNTS.size());
  }

  /** The local runner gives a task one attempt. */
  @Test
  void aJobThatFailsLeavesNothing() throws Exception {
    Path table = hdfs.newTable("local-failing");
    Configuration conf = hdfs.conf();
    WordCount.firstReduceAttempt(conf, FirstAttempt.FAILS);
    Job job = WordCount.job(conf, input(), table, 1);

    assertThat(job.waitForCompletion(false)).isFalse();

    assertThat(hdfs.visible(table)).isEmpty();
    assertThat(hdfs.fs().exists(new Path(table, "_SUCCESS"))).isFalse();
    assertThat(hdfs.fs().exists(new Path(table, "_temporary"))).isFalse();
  }

  @Test
  void attemptsThatFailAreNotInTheOutput() throws Exception {
    Path table = hdfs.newTable("yarn");
    Configuration conf = yarn.conf();
    WordCount.firstMapAttempt(conf, FirstAttempt.FAILS);
    WordCount.firstReduceAttempt(conf, FirstAttempt.FAILS);
    Job job = WordCount.job(conf, input(), table, 2);

    assertThat(job.waitForCompletion(false)).isTrue();

    assertThat(counts(table)).isEqualTo(COUNTS);
    assertCommitted(job, table, 2, 4);
    assertThat(counter(job, JobCounter.NUM_FAILED_MAPS)).isEqualTo(1);
    assertThat(counter(job, JobCounter.NUM_FAILED_REDUCES)).isEqualTo(1);
    assertThat(counter(job, TaskCounter.MAP_INPUT_RECORDS)).isEqualTo(3);
    assertThat(counter(job, TaskCounter.REDUCE_OUTPUT_RECORDS)).isEqualTo(COUNTS.size());
  }

  @Test
  void anAttemptThatWasKilledIsNotInTheOutput() throws Exception {
    Path table = hdfs.newTable("yarn-killed");
    Configuration conf = yarn.conf();
    WordCount.firstMapAttempt(conf, FirstAttempt.IS_KILLED);
    Job job = WordCount.job(conf, input(), table, 0);

    assertThat(job.waitForCompletion(false)).isTrue();

    assertThat(counts(table)).isEqualTo(COUNTS);
    assertCommitted(job, table, 2, 2);
    assertThat(attempts(job, TaskCompletionEvent.Status.KILLED)).hasSize(1);
    assertThat(attempts(job, TaskCompletionEvent.Status.SUCCEEDED)).hasSize(2);
    assertThat(counter(job, TaskCounter.MAP_OUTPUT_RECORDS)).isEqualTo(WORDS);
  }

  /**
   * The application master dies between two renames of its job commit, before the last one, or when
   * all is done and nobody knows. YARN starts another, which runs the job again.
   */
  @ParameterizedTest
  @CsvSource({"RENAME, 2", "RENAME, 4", "CLEANUP, 1"})
  void aRestartedApplicationMasterLeavesOneCopyOfTheOutput(
      Moment moment, int rename, @TempDir java.nio.file.Path directory) throws Exception {
    Path table = hdfs.newTable("yarn-restarted");
    java.nio.file.Path halted = directory.resolve("halted");
    Configuration conf = HaltingHdfs.halt(yarn.conf(), moment, rename, halted);
    conf.setInt("mapreduce.manifest.committer.io.threads", 1);
    conf.setInt("mapreduce.am.max-attempts", 2);
    // The tasks run inside of the application master, which saves the start of their JVMs, twice.
    conf.setBoolean("mapreduce.job.ubertask.enable", true);
    Job job = WordCount.job(conf, input(), table, 0);

    assertThat(job.waitForCompletion(false)).as(() -> failure(job)).isTrue();

    assertThat(job.isUber()).isTrue();
    assertThat(Files.exists(halted)).as("the application master was halted").isTrue();
    assertThat(counts(table)).isEqualTo(COUNTS);
    assertCommitted(job, table, 2, 2);
  }

  private static String failure(Job job) {
    try {
      return "job " + job.getJobID() + ": " + job.getStatus().getFailureInfo();
    } catch (IOException | InterruptedException e) {
      return "job " + job.getJobID() + " (" + e + ")";
    }
  }

  /** Two files, so two maps: three lines, six words. */
  private Path input() throws IOException {
    Path input = hdfs.newTable("input");
    hdfs.write(new Path(input, "one"), "a b a\nc\n");
    hdfs.write(new Path(input, "two"), "a b\n");
    return input;
  }

  /** The words in a table and the sum of their counts, over all of its files. */
  private Map<String, Long> counts(Path table) throws IOException {
    Map<String, Long> counts = new TreeMap<>();
    for (String content : hdfs.visible(table).values()) {
      content
          .lines()
          .map(line -> line.split("\t", -1))
          .forEach(pair -> counts.merge(pair[0], Long.valueOf(pair[1]), Long::sum));
    }
    return counts;
  }

  /** Maps whose output goes to reducers commit too, without files. */
  private void assertCommitted(Job job, Path table, int files, int tasks) throws IOException {
    assertThat(hdfs.visible(table)).hasSize(files);
    SuccessReport report = hdfs.report(table);
    assertThat(report.committer()).isEqualTo(ManifestCommitter.class.getName());
    assertThat(report.success()).isTrue();
    assertThat(report.jobId()).isEqualTo(job.getJobID().toString());
    assertThat(report.statistics().counters())
        .containsEntry("committer_files_committed", (long) files)
        .containsEntry("committer_tasks_completed", (long) tasks);
    assertThat(hdfs.fs().exists(new Path(table, "_temporary"))).isFalse();
  }

  private static List<TaskAttemptID> attempts(Job job, TaskCompletionEvent.Status end)
      throws IOException, InterruptedException {
    return Arrays.stream(job.getTaskCompletionEvents(0, 100))
        .filter(event -> event.getStatus() == end)
        .map(TaskCompletionEvent::getTaskAttemptId)
        .toList();
  }

  private static long counter(Job job, Enum<?> name) throws IOException {
    Counters counters = job.getCounters();
    return counters.findCounter(name).getValue();
  }
}
