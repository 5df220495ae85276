// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.TaskManifest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.mapreduce.JobID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How many requests the Hadoop protocol makes, and how much a task tells the job. */
class HadoopProtocolRequestsTest {
  /** What a task commit may cost besides one listing of each directory of the attempt. */
  private static final int TASK_OVERHEAD = 8;

  /** What Hadoop's own committer needs for the same job. */
  private static final int HADOOPS_JOB_COMMIT = 102_510;

  private static final String UUID = "0b6c1f4e-9a55-4f0e-8d1e-1f0c1b6a7d21";

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs"})
  void aTaskOfAHundredPartitions(String scheme) throws IOException {
    Map<String, String> files = new TreeMap<>();
    for (int month = 0; month < 100; month++) {
      files.put("year=" + (2000 + month / 4) + "/month=" + month % 4 + "/part-0", "x");
    }
    assertThat(requestsOfTask(scheme, files)).hasSizeLessThanOrEqualTo(126 + TASK_OVERHEAD);
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs"})
  void aTaskThatWritesToTheRoot(String scheme) throws IOException {
    Map<String, String> files = new TreeMap<>();
    for (int file = 0; file < 10; file++) {
      files.put("part-" + file, "x");
    }
    assertThat(requestsOfTask(scheme, files)).hasSizeLessThanOrEqualTo(1 + TASK_OVERHEAD);
  }

  @ParameterizedTest
  @ValueSource(strings = {"hdfs", "abfs", "gs"})
  void aTaskWithoutFiles(String scheme) throws IOException {
    assertThat(requestsOfTask(scheme, Map.of())).hasSizeLessThanOrEqualTo(1 + TASK_OVERHEAD);
  }

  /** All requests of a task attempt, its setup included; none of them looks at the table. */
  private static List<String> requestsOfTask(String scheme, Map<String, String> files)
      throws IOException {
    HadoopJobHarness job = job(scheme);
    job.setupJob();
    job.state().resetRequests();
    job.runTask(0, 0, files);
    List<String> requests = job.state().requests();
    System.out.printf(
        "task commit, %s, %d files: %d requests %s%n",
        scheme, files.size(), requests.size(), job.state().requestsByOperation());
    assertThat(requests).allSatisfy(request -> assertThat(request).contains(" /table/_temporary/"));
    assertThat(job.manifest(0).files).hasSize(files.size());
    return requests;
  }

  @Test
  void aJobOfAThousandTasks() throws IOException {
    HadoopJobHarness job = job("abfs");
    job.setupJob();
    for (int task = 0; task < 1000; task++) {
      committedTask(job, task);
    }
    job.conf.set(CommitterConfig.IO_THREADS, "8");
    job.state().resetRequests();
    job.commitJob();

    // As in Hadoop's figure, a file is one request, its content included.
    long requests =
        job.state().requests().stream().filter(one -> !one.startsWith("write ")).count();
    System.out.printf(
        "job commit, 1000 tasks of 100 files into 500 partitions: %d requests %s%n",
        requests, job.state().requestsByOperation());
    assertThat(requests).isLessThanOrEqualTo(HADOOPS_JOB_COMMIT);
    assertThat(job.visible()).hasSize(100_000);
    assertThat(job.exists("_temporary")).isFalse();
  }

  /** What a task of a hundred files in as many of the 500 partitions leaves when it commits. */
  private static void committedTask(HadoopJobHarness job, int task) throws IOException {
    String work = job.workDirectory(task, 0);
    List<TaskManifest.Directory> directories = new ArrayList<>();
    List<FileEntry> files = new ArrayList<>();
    for (int file = 0; file < 100; file++) {
      int partition = (task * 100 + file) % 500;
      String year = "year=" + (1980 + partition / 12);
      String month = year + "/month=" + partition % 12;
      directories.add(new TaskManifest.Directory(job.path(year), 1));
      directories.add(new TaskManifest.Directory(job.path(month), 2));
      String name = month + "/part-" + task + "-" + file;
      job.write(work + "/" + name, "x");
      files.add(new FileEntry(job.path(work + "/" + name), job.path(name), 1, null, 0));
    }
    TaskManifest manifest =
        new TaskManifest(
            job.jobId(),
            0,
            job.context(task, 0).getTaskAttemptID().getTaskID().toString(),
            job.context(task, 0).getTaskAttemptID().toString(),
            job.path(work),
            files,
            directories,
            Map.of(),
            new IOStatisticsSnapshot());
    job.files.write(job.manifestOf(task), manifest.toJson());
  }

  /** MapReduce's ids and names, and Spark's, in a table of an ordinary account. */
  @ParameterizedTest
  @CsvSource({
    "1700000000000, 42, '', part-r-00000, part-r-00001",
    "202601021200001234567890123456789, 3, "
        + UUID
        + ", part-00012-"
        + UUID
        + ".c000.orc, part-00013-"
        + UUID
        + ".c000.orc"
  })
  void theManifestOfATwoFileTaskIsSmall(
      String jobTracker, int number, String uuid, String first, String second) throws IOException {
    HadoopJobHarness job =
        HadoopJobHarness.memory(
            new Path("abfs://container@account.dfs.core.windows.net/warehouse/db/table"),
            new JobID(jobTracker, number));
    job.state().clear();
    if (!uuid.isEmpty()) {
      job.conf.set("spark.sql.sources.writeJobUUID", uuid);
    }
    job.setupJob();
    job.runTask(12, 0, Map.of(first, "some content", second, "more content"));

    byte[] json = job.files.bytes(job.manifestOf(12));
    System.out.printf("manifest of a two-file task: %d bytes%n", json.length);
    assertThat(json.length).isLessThanOrEqualTo(1500);
    assertThat(job.manifest(12).files).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({"0, ''", "1, ''", "1, p=1/q=2/"})
  void aManifestHoldsNoStatisticThatSaysNothing(int files, String directory) throws IOException {
    HadoopJobHarness job = job("abfs");
    job.setupJob();
    Map<String, String> content = new TreeMap<>();
    for (int file = 0; file < files; file++) {
      content.put(directory + "part-" + file, "content");
    }
    job.runTask(0, 0, content);

    IOStatisticsSnapshot statistics = job.manifest(0).statistics;
    assertThat(statistics.counters().values()).allMatch(value -> value > 0);
    assertThat(statistics.gauges().values()).allMatch(value -> value > 0);
    assertThat(statistics.minimums().values()).allMatch(value -> value > 0);
    assertThat(statistics.maximums().values()).allMatch(value -> value > 0);
    assertThat(statistics.meanStatistics().values())
        .allMatch(mean -> mean.getSamples() > 0 && mean.getSum() > 0);
  }

  private static HadoopJobHarness job(String scheme) {
    HadoopJobHarness job = HadoopJobHarness.memory(scheme, "requests-" + scheme);
    job.state().clear();
    return job;
  }
}
