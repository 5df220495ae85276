package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.tuple;

import io.manifestcommitter.commit.OutputInvalidException;
import io.manifestcommitter.commit.RenameFailedException;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.DirectoryEntry;
import io.manifestcommitter.manifest.DirectoryState;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.plan.PlanRejectedException;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.UnsupportedStoreException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The Hadoop protocol on a local directory, called as MapReduce calls it. */
class ManifestCommitterTest {
  private static final JobID JOB = new JobID("202601010000", 7);
  private static final String JOB_NAME = "job_202601010000_0007";
  private static final String JOB_DIRECTORY = "_temporary/manifest_" + JOB_NAME;

  @TempDir File directory;

  private final Configuration conf = new Configuration();
  private File table;

  @BeforeEach
  void bind() {
    table = new File(directory, "table");
    conf.set(
        "mapreduce.outputcommitter.factory.scheme.file", ManifestCommitterFactory.class.getName());
    conf.set(CommitterConfig.IO_THREADS, "4");
  }

  @AfterEach
  void noMoreFaults() {
    FaultyFileSystem.refusedRename = path -> false;
    FaultyFileSystem.refusedDelete = path -> false;
  }

  @Test
  void hadoopFindsTheCommitterThroughItsFactory() throws Exception {
    PathOutputCommitter committer = committer(0, 0);

    assertThat(committer).isInstanceOf(ManifestCommitter.class);
    assertThat(committer.getOutputPath()).isEqualTo(path(table));
    assertThat(committer)
        .asString()
        .contains(path(table).toString(), JOB_NAME, BuildInfo.version());
  }

  @Test
  void theLayoutIsThatOfTheProtocol() throws Exception {
    setupJob();
    PathOutputCommitter task = committer(3, 1);
    task.setupTask(context(3, 1));

    assertThat(new File(table, JOB_DIRECTORY + "/00/manifests")).isEmptyDirectory();
    assertThat(task.getWorkPath())
        .isEqualTo(
            path(
                new File(table, JOB_DIRECTORY + "/00/tasks/attempt_202601010000_0007_m_000003_1")));
    assertThat(new File(task.getWorkPath().toUri().getPath())).isEmptyDirectory();
    assertThat(visible()).isEmpty();
  }

  @Test
  void theNumberOfTheJobAttemptIsInTheLayout() throws Exception {
    conf.setInt("mapreduce.job.application.attempt.id", 2);

    assertThat(committer(0, 0).getWorkPath().toString()).contains(JOB_DIRECTORY + "/02/tasks/");
  }

  @Test
  void taskCommitSavesAManifestAndPublishesNothing() throws Exception {
    setupJob();
    runTask(3, 0, Map.of("f", "1", "p=1/q=2/g", "four"));

    File manifests = new File(table, JOB_DIRECTORY + "/00/manifests");
    String task = "task_202601010000_0007_m_000003";
    assertThat(visible()).isEmpty();
    assertThat(namesIn(manifests)).containsExactly(task + "-manifest.json");
    TaskManifest manifest = manifest(new File(manifests, task + "-manifest.json"));
    File work = workDirectory(3, 0);
    assertThat(manifest.jobId()).isEqualTo(JOB_NAME);
    assertThat(manifest.jobAttemptNumber()).isZero();
    assertThat(manifest.taskId()).isEqualTo(task);
    assertThat(manifest.taskAttemptId()).isEqualTo("attempt_202601010000_0007_m_000003_0");
    assertThat(manifest.taskAttemptDirectory()).isEqualTo(path(work));
    assertThat(manifest.files())
        .extracting(FileEntry::source, FileEntry::destination, FileEntry::size)
        .containsExactlyInAnyOrder(
            tuple(path(new File(work, "f")), path(new File(table, "f")), 1L),
            tuple(path(new File(work, "p=1/q=2/g")), path(new File(table, "p=1/q=2/g")), 4L));
    assertThat(manifest.directories())
        .extracting(DirectoryEntry::path, DirectoryEntry::level)
        .containsExactlyInAnyOrder(
            tuple(path(new File(table, "p=1")), 1), tuple(path(new File(table, "p=1/q=2")), 2));
    assertThat(manifest.statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_TASK_FILE_COUNT, 2L)
        .containsEntry(StatisticNames.COMMITTER_TASK_FILE_SIZE, 5L)
        .containsEntry(StatisticNames.COMMITTER_TASK_DIRECTORY_COUNT, 2L);
  }

  @Test
  void jobCommitPublishesWhatTheTasksCommitted() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0", "a", "p=1/part-0", "bb"));
    runTask(1, 0, Map.of("p=1/part-1", "ccc", "p=2/q=x/part-1", "d"));
    commitJob();

    assertThat(visible())
        .isEqualTo(
            Map.of("part-0", "a", "p=1/part-0", "bb", "p=1/part-1", "ccc", "p=2/q=x/part-1", "d"));
    assertThat(namesIn(table))
        .containsExactlyInAnyOrder("part-0", "p=1", "p=2", "_SUCCESS", "_SUCCESS.files");
  }

  @Test
  void theReportSaysWhatWasDone() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0", "a", "p=1/part-0", "bb"));
    runTask(1, 0, Map.of("p=1/part-1", "ccc"));
    runTask(2, 0, Map.of());
    commitJob();

    SuccessReport report = report(new File(table, "_SUCCESS"));
    assertThat(report.success()).isTrue();
    assertThat(report.jobId()).isEqualTo(JOB_NAME);
    assertThat(report.jobIdSource()).isEqualTo("JobID");
    assertThat(report.committer()).isEqualTo(ManifestCommitter.class.getName());
    assertThat(report.state()).isEqualTo("committed");
    assertThat(report.filenames())
        .hasSize(3)
        .allSatisfy(name -> assertThat(name).contains(table.getPath()))
        .anySatisfy(name -> assertThat(name).endsWith("/p=1/part-1"));
    assertThat(report.statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_FILES_COMMITTED, 3L)
        .containsEntry(StatisticNames.COMMITTER_BYTES_COMMITTED, 6L)
        .containsEntry(StatisticNames.COMMITTER_TASKS_COMPLETED, 3L);
    assertThat(report.diagnostics()).containsKey("principal");
  }

  @Test
  void theListOfFilesIsComplete() throws Exception {
    setupJob();
    Map<String, String> many = new TreeMap<>();
    for (int i = 0; i < 150; i++) {
      many.put("p=" + i % 7 + "/part-" + i, "x".repeat(i));
    }
    runTask(0, 0, many);
    commitJob();

    assertThat(listedFiles())
        .isEqualTo(
            many.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, e -> (long) e.getValue().length())));
    assertThat(report(new File(table, "_SUCCESS")).filenames())
        .hasSize(SuccessReport.MAX_FILENAMES);
  }

  @Test
  void aJobWithoutTasksCommitsAnEmptyTable() throws Exception {
    setupJob();
    commitJob();

    assertThat(visible()).isEmpty();
    assertThat(report(new File(table, "_SUCCESS")).filenames()).isEmpty();
    assertThat(listedFiles()).isEmpty();
  }

  @Test
  void aTaskWithoutFilesNeedsACommitToo() throws Exception {
    assertThat(committer(0, 0).needsTaskCommit(context(0, 0))).isTrue();
  }

  @Test
  void anEmptyDirectoryOfATaskIsMade() throws Exception {
    setupJob();
    PathOutputCommitter task = setupTask(0, 0);
    assertThat(new File(workDirectory(0, 0), "empty/below").mkdirs()).isTrue();
    task.commitTask(context(0, 0));
    commitJob();

    assertThat(new File(table, "empty/below")).isEmptyDirectory();
  }

  @Test
  void theSecondAttemptOfATaskReplacesTheFirst() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0-of-attempt-0", "first"));
    runTask(0, 1, Map.of("part-0-of-attempt-1", "second"));
    commitJob();

    assertThat(visible()).isEqualTo(Map.of("part-0-of-attempt-1", "second"));
    assertThat(report(new File(table, "_SUCCESS")).statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_TASKS_COMPLETED, 1L);
  }

  @Test
  void anAttemptThatDidNotCommitIsNotPublished() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0", "done"));
    setupTask(1, 0);
    write(new File(workDirectory(1, 0), "part-1"), "never committed");
    commitJob();

    assertThat(visible()).isEqualTo(Map.of("part-0", "done"));
  }

  @Test
  void anAbortedAttemptIsNotPublishedAndLeavesNothing() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0", "done"));
    PathOutputCommitter task = setupTask(1, 0);
    write(new File(workDirectory(1, 0), "part-1"), "aborted");
    task.abortTask(context(1, 0));
    task.abortTask(context(1, 0));

    assertThat(workDirectory(1, 0)).doesNotExist();
    commitJob();
    assertThat(visible()).isEqualTo(Map.of("part-0", "done"));
  }

  @Test
  void hostileNamesArriveAsTheyAre() throws Exception {
    Map<String, String> files = new TreeMap<>();
    for (String name :
        List.of(
            "with space",
            "100%",
            "%2F%20",
            "a#b?c",
            "ünïcödé 日本 😀",
            "p=a b/f",
            "time=12:30:00/f",
            "hdfs:x/f",
            "p=%3A/f",
            "p=ü #1/q=\"'\\/f",
            "a+b&c=d",
            "-",
            "...")) {
      files.put(name, "content of " + name);
    }
    setupJob();
    runTask(0, 0, files);
    commitJob();

    assertThat(visible()).isEqualTo(files);
    assertThat(listedFiles().keySet()).isEqualTo(files.keySet());
    assertThat(report(new File(table, "_SUCCESS")).filenames()).hasSize(files.size());
  }

  @Test
  void aTableOfHostileNameIsWrittenToo() throws Exception {
    table = new File(directory, "my table: 100% #1 ü/t");
    setupJob();
    runTask(0, 0, Map.of("p=1/part-0", "a"));
    commitJob();

    assertThat(visible()).isEqualTo(Map.of("p=1/part-0", "a"));
    assertThat(listedFiles()).isEqualTo(Map.of("p=1/part-0", 1L));
  }

  @Test
  void anExistingFileAtADestinationFailsTheJob() throws Exception {
    write(new File(table, "part-0"), "old");
    setupJob();
    runTask(0, 0, Map.of("part-0", "new"));

    assertThatThrownBy(this::commitJob)
        .isInstanceOf(RenameFailedException.class)
        .hasMessageContainingAll(
            new File(workDirectory(0, 0), "part-0").getPath(), new File(table, "part-0").getPath());
    assertThat(visible()).isEqualTo(Map.of("part-0", "old"));
    assertThat(new File(table, "_SUCCESS")).doesNotExist();
  }

  @Test
  void anExistingFileGivesWayWhereTheOptionSaysSo() throws Exception {
    conf.setBoolean(CommitterConfig.DELETE_TARGET_FILES, true);
    write(new File(table, "part-0"), "old");
    write(new File(table, "p=1/part-0"), "old too");
    write(new File(table, "other"), "stays");
    setupJob();
    runTask(0, 0, Map.of("part-0", "new", "p=1/part-0", "new too", "p=2/part-0", "x"));
    commitJob();

    assertThat(visible())
        .isEqualTo(
            Map.of("part-0", "new", "p=1/part-0", "new too", "p=2/part-0", "x", "other", "stays"));
  }

  @Test
  void aFileWhereADirectoryHasToBeGivesWay() throws Exception {
    write(new File(table, "p=1"), "a file");
    setupJob();
    runTask(0, 0, Map.of("p=1/part-0", "x"));
    commitJob();

    assertThat(visible()).isEqualTo(Map.of("p=1/part-0", "x"));
  }

  @Test
  void filesOfEarlierJobsStay() throws Exception {
    write(new File(table, "p=1/earlier"), "old");
    setupJob();
    runTask(0, 0, Map.of("p=1/part-0", "new"));
    commitJob();

    assertThat(visible()).isEqualTo(Map.of("p=1/earlier", "old", "p=1/part-0", "new"));
  }

  @Test
  void validationPassesWhatIsAsCommitted() throws Exception {
    conf.setBoolean(CommitterConfig.VALIDATE_OUTPUT, true);
    setupJob();
    runTask(0, 0, Map.of("part-0", "a", "p=1/part-0", "b"));
    commitJob();

    assertThat(visible()).hasSize(2);
    assertThat(report(new File(table, "_SUCCESS")).statistics().counters())
        .containsEntry(StatisticNames.JOB_STAGE_OPTIONAL_VALIDATE_OUTPUT, 1L);
  }

  @Test
  void validationFindsAFileThatIsNotAsCommitted() throws Exception {
    conf.setBoolean(CommitterConfig.VALIDATE_OUTPUT, true);
    setupJob();
    runTask(0, 0, Map.of("part-0", "as committed"));
    write(new File(workDirectory(0, 0), "part-0"), "changed since");

    assertThatThrownBy(this::commitJob)
        .isInstanceOf(OutputInvalidException.class)
        .hasMessageContainingAll(new File(table, "part-0").getPath(), "12 bytes", "13 bytes");
    assertThat(new File(table, "_SUCCESS")).doesNotExist();
  }

  @Test
  void withoutTheMarkerNoReportIsLeft() throws Exception {
    conf.setBoolean(CommitterConfig.MARK_SUCCESSFUL_JOBS, false);
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    commitJob();

    assertThat(namesIn(table)).containsExactly("part-0");
  }

  @Test
  void theMarkerOfAnEarlierJobGoesAtSetup() throws Exception {
    write(new File(table, "_SUCCESS"), "");
    setupJob();

    assertThat(new File(table, "_SUCCESS")).doesNotExist();
  }

  @Test
  void theReportOfAnEarlierJobIsReplaced() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    commitJob();
    conf.set("spark.sql.sources.writeJobUUID", "second");
    setupJob();
    runTask(0, 0, Map.of("part-1", "bb"));
    commitJob();

    assertThat(visible()).isEqualTo(Map.of("part-0", "a", "part-1", "bb"));
    assertThat(report(new File(table, "_SUCCESS")).jobId()).isEqualTo("second");
    assertThat(listedFiles()).isEqualTo(Map.of("part-1", 2L));
    assertThat(namesIn(table))
        .containsExactlyInAnyOrder("part-0", "part-1", "_SUCCESS", "_SUCCESS.files");
  }

  @Test
  void aReportOfASuccessIsSavedInTheReportDirectory() throws Exception {
    File reports = new File(directory, "reports/of jobs");
    conf.set(CommitterConfig.SUMMARY_REPORT_DIRECTORY, path(reports).toString());
    setupJob();
    runTask(0, 0, Map.of("part-0", "abc"));
    commitJob();

    SuccessReport report = report(new File(reports, "summary-" + JOB_NAME + ".json"));
    assertThat(report.success()).isTrue();
    assertThat(report.jobId()).isEqualTo(JOB_NAME);
    assertThat(report.statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_FILES_COMMITTED, 1L);
    assertThat(namesIn(reports))
        .filteredOn(name -> !name.startsWith("_") && !name.startsWith("."))
        .containsExactly("summary-" + JOB_NAME + ".json");
  }

  @Test
  void aReportOfAFailureIsSavedInTheReportDirectory() throws Exception {
    File reports = new File(directory, "reports");
    conf.set(CommitterConfig.SUMMARY_REPORT_DIRECTORY, path(reports).toString());
    write(new File(table, "part-0"), "old");
    setupJob();
    runTask(0, 0, Map.of("part-0", "new"));
    Throwable failure = catchThrowable(this::commitJob);

    SuccessReport report = report(new File(reports, "summary-" + JOB_NAME + ".json"));
    assertThat(report.success()).isFalse();
    assertThat(report.state()).isEqualTo("failed");
    assertThat(report.stage()).isEqualTo(StatisticNames.JOB_STAGE_RENAME_FILES);
    assertThat(report.diagnostics())
        .containsEntry("exception", failure.toString())
        .containsEntry("stage", StatisticNames.JOB_STAGE_RENAME_FILES)
        .containsKey("stacktrace");
    assertThat(report.statistics().counters())
        .containsEntry(StatisticNames.COMMITTER_COMMITS_ABORTED, 1L);
  }

  @Test
  void aReportDirectoryThatCannotBeMadeDoesNotFailTheJob() throws Exception {
    File file = new File(directory, "a file");
    write(file, "in the way");
    conf.set(CommitterConfig.SUMMARY_REPORT_DIRECTORY, path(new File(file, "x")).toString());
    setupJob();
    runTask(0, 0, Map.of("part-0", "abc"));
    commitJob();

    assertThat(visible()).isEqualTo(Map.of("part-0", "abc"));
    assertThat(Files.readString(file.toPath())).isEqualTo("in the way");
  }

  @Test
  void cleanupTakesTheWholeTemporaryDirectoryWhereNobodyElseUsesIt() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    assertThat(new File(table, "_temporary")).exists();
    commitJob();

    assertThat(new File(table, "_temporary")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void cleanupLeavesOtherJobsAlone(boolean parallel) throws Exception {
    conf.setBoolean(CommitterConfig.CLEANUP_PARALLEL_DELETE, parallel);
    File other = new File(table, "_temporary/manifest_job_202601010000_0008/00/tasks/a/part-0");
    File foreign = new File(table, "_temporary/0/_temporary/attempt/part-0");
    write(other, "of another job");
    write(foreign, "of another committer");
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    commitJob();

    assertThat(Files.readString(other.toPath())).isEqualTo("of another job");
    assertThat(Files.readString(foreign.toPath())).isEqualTo("of another committer");
    assertThat(new File(table, JOB_DIRECTORY)).doesNotExist();
  }

  @Test
  void cleanupCanBeSkipped() throws Exception {
    conf.setBoolean(CommitterConfig.CLEANUP_SKIPPED, true);
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    commitJob();

    assertThat(visible()).isEqualTo(Map.of("part-0", "a"));
    assertThat(new File(table, JOB_DIRECTORY + "/00/manifests")).isNotEmptyDirectory();
  }

  @Test
  void aCleanupThatFailsFailsTheJobUnlessThatIsToBeIgnored() throws Exception {
    useFaultyFileSystem();
    FaultyFileSystem.refusedDelete = path -> path.getName().equals("manifest_" + JOB_NAME);
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    assertThatThrownBy(this::commitJob)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("manifest_" + JOB_NAME);

    conf.setBoolean(CommitterConfig.CLEANUP_FAILURES_IGNORED, true);
    setupJob();
    runTask(0, 0, Map.of("part-1", "a"));
    commitJob();
    assertThat(visible()).containsKey("part-1");
  }

  @Test
  void abortOfAJobThatDidNotCommitLeavesTheTableAsItWas() throws Exception {
    write(new File(table, "p=1/earlier"), "old");
    setupJob();
    runTask(0, 0, Map.of("part-0", "a", "p=1/part-0", "b"));
    setupTask(1, 0);
    jobCommitter().abortJob(jobContext(), JobStatus.State.KILLED);

    assertThat(visible()).isEqualTo(Map.of("p=1/earlier", "old"));
    assertThat(namesIn(table)).containsExactly("p=1");
  }

  @Test
  void abortBeforeSetupIsHarmless() throws Exception {
    jobCommitter().abortJob(jobContext(), JobStatus.State.FAILED);

    assertThat(table).doesNotExist();
  }

  @Test
  void abortAfterASuccessKeepsTheTable() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    PathOutputCommitter job = jobCommitter();
    job.commitJob(jobContext());
    job.abortJob(jobContext(), JobStatus.State.FAILED);

    assertThat(visible()).isEqualTo(Map.of("part-0", "a"));
    assertThat(new File(table, "_SUCCESS")).exists();
  }

  @Test
  void abortAfterAFailedCommitTakesBackWhatWasPublished() throws Exception {
    conf.set(CommitterConfig.IO_THREADS, "1");
    useFaultyFileSystem();
    Set<Path> renamed = new HashSet<>();
    write(new File(table, "p=1/earlier"), "of an earlier job");
    setupJob();
    Map<String, String> files = new TreeMap<>();
    for (int i = 0; i < 100; i++) {
      files.put((i % 2 == 0 ? "p=1/part-" : "new/q=1/part-") + i, "new");
    }
    runTask(0, 0, files);
    PathOutputCommitter job = jobCommitter();
    FaultyFileSystem.refusedRename =
        destination -> renamed.size() == 50 || !renamed.add(destination);
    assertThatThrownBy(() -> job.commitJob(jobContext())).isInstanceOf(RenameFailedException.class);
    assertThat(visible()).as("what a failed commit leaves").hasSize(51);

    job.abortJob(jobContext(), JobStatus.State.FAILED);

    assertThat(visible()).isEqualTo(Map.of("p=1/earlier", "of an earlier job"));
    assertThat(namesIn(table)).containsExactly("p=1");
  }

  @Test
  void abortAfterAFailedCommitLeavesWhatOthersAdded() throws Exception {
    conf.set(CommitterConfig.IO_THREADS, "1");
    useFaultyFileSystem();
    FaultyFileSystem.refusedRename = destination -> destination.getName().equals("part-1");
    setupJob();
    runTask(0, 0, Map.of("new/part-0", "a", "other/part-1", "b"));
    PathOutputCommitter job = jobCommitter();
    assertThatThrownBy(() -> job.commitJob(jobContext())).isInstanceOf(IOException.class);
    write(new File(table, "new/of-another-job"), "stays");

    job.abortJob(jobContext(), JobStatus.State.FAILED);

    assertThat(visible()).isEqualTo(Map.of("new/of-another-job", "stays"));
    assertThat(new File(table, "other")).doesNotExist();
  }

  @Test
  void aFailedCommitCanBeTriedAgain() throws Exception {
    File inTheWay = new File(table, "p=1/part-5");
    write(inTheWay, "old");
    setupJob();
    Map<String, String> files = new TreeMap<>();
    for (int i = 0; i < 10; i++) {
      files.put("p=1/part-" + i, "new " + i);
    }
    runTask(0, 0, files);
    PathOutputCommitter job = jobCommitter();
    assertThatThrownBy(() -> job.commitJob(jobContext())).isInstanceOf(IOException.class);
    assertThat(inTheWay.delete()).isTrue();
    Files.deleteIfExists(new File(table, "p=1/.part-5.crc").toPath());

    job.commitJob(jobContext());

    assertThat(visible()).isEqualTo(files);
    assertThat(listedFiles()).hasSize(10);
  }

  @Test
  void aSecondCommitOfAJobThatIsCommittedFails() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    commitJob();

    assertThatThrownBy(this::commitJob)
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("manifests", "committed already");
    assertThat(visible()).isEqualTo(Map.of("part-0", "a"));
  }

  @Test
  void twoJobsCanWriteToOneTableAtOnce() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("p=1/part-0", "first"));
    Configuration other = new Configuration(conf);
    other.set("spark.sql.sources.writeJobUUID", "other");
    PathOutputCommitter otherJob = committer(other, 0, 0);
    otherJob.setupJob(new JobContextImpl(other, JOB));
    otherJob.setupTask(context(other, 0, 0));
    write(new File(otherJob.getWorkPath().toUri().getPath(), "p=1/part-1"), "second");
    otherJob.commitTask(context(other, 0, 0));

    commitJob();
    otherJob.commitJob(new JobContextImpl(other, JOB));

    assertThat(visible()).isEqualTo(Map.of("p=1/part-0", "first", "p=1/part-1", "second"));
    assertThat(new File(table, "_temporary")).doesNotExist();
    assertThat(report(new File(table, "_SUCCESS")).jobId()).isEqualTo("other");
  }

  @Test
  void theJobIdIsSparksWhereThereIsOne() throws Exception {
    conf.set("spark.sql.sources.writeJobUUID", "0b6c1f4e-9a55-4f0e-8d1e-1f0c1b6a7d21");
    setupJob();
    assertThat(new File(table, "_temporary/manifest_0b6c1f4e-9a55-4f0e-8d1e-1f0c1b6a7d21"))
        .isDirectory();
    runTask(0, 0, Map.of("part-0", "a"));
    commitJob();

    SuccessReport report = report(new File(table, "_SUCCESS"));
    assertThat(report.jobId()).isEqualTo("0b6c1f4e-9a55-4f0e-8d1e-1f0c1b6a7d21");
    assertThat(report.jobIdSource()).isEqualTo("spark.sql.sources.writeJobUUID");
  }

  @Test
  void aJobIdThatLeadsElsewhereIsRefused() {
    conf.set("spark.sql.sources.writeJobUUID", "../../other");

    assertThatThrownBy(() -> committer(0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("../../other");
  }

  @Test
  void aWrongOptionIsRefusedBeforeAnythingIsWritten() {
    conf.set(CommitterConfig.IO_THREADS, "none");

    assertThatThrownBy(() -> committer(0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(CommitterConfig.IO_THREADS);
    assertThat(table).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "s3a://bucket/t, org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory",
    "wasb://c@a.blob.core.windows.net/t, abfs://"
  })
  void aStoreThatIsNotServedIsRefusedWithWhatToUse(String path, String advice) {
    conf.set(
        PathOutputCommitterFactory.COMMITTER_FACTORY_CLASS,
        ManifestCommitterFactory.class.getName());

    assertThatThrownBy(
            () -> PathOutputCommitterFactory.createCommitter(new Path(path), context(0, 0)))
        .isInstanceOf(UnsupportedStoreException.class)
        .hasMessageContainingAll(path, advice);
  }

  @Test
  void aManifestThatIsCutShortPublishesNothing() throws Exception {
    File manifest = jobWithTwoTasks();
    byte[] json = Files.readAllBytes(manifest.toPath());
    writeBytes(manifest, Arrays.copyOf(json, json.length / 2));

    assertRefused(CorruptManifestException.class, path(manifest).toString());
  }

  @Test
  void anEmptyManifestPublishesNothing() throws Exception {
    File manifest = jobWithTwoTasks();
    writeBytes(manifest, new byte[0]);

    assertRefused(CorruptManifestException.class, path(manifest).toString());
  }

  @Test
  void aChangedManifestPublishesNothing() throws Exception {
    File manifest = jobWithTwoTasks();
    String json = Files.readString(manifest.toPath());
    assertThat(json).contains("part-1");
    writeBytes(manifest, json.replace("part-1", "part-7").getBytes(StandardCharsets.UTF_8));

    assertRefused(CorruptManifestException.class, path(manifest).toString(), "checksum");
  }

  @Test
  void theManifestOfAnotherCommitterPublishesNothing() throws Exception {
    File manifest = jobWithTwoTasks();
    String json = Files.readString(manifest.toPath());
    assertThat(json).contains(TaskManifest.CHECKSUM_KEY);
    writeBytes(
        manifest,
        json.replace(TaskManifest.CHECKSUM_KEY, "some.other.key").getBytes(StandardCharsets.UTF_8));

    assertRefused(CorruptManifestException.class, path(manifest).toString(), "another committer");
  }

  @Test
  void theManifestOfAnotherJobPublishesNothing() throws Exception {
    File manifest = jobWithTwoTasks();
    TaskManifest ours = manifest(manifest);
    writeBytes(
        manifest,
        TaskManifest.builder()
            .job("job_202601010000_0008", 0)
            .task(ours.taskId(), ours.taskAttemptId())
            .taskAttemptDirectory(ours.taskAttemptDirectory())
            .files(ours.files())
            .directories(ours.directories())
            .build()
            .toJson());

    assertRefused(
        CorruptManifestException.class,
        path(manifest).toString(),
        JOB_NAME,
        "job_202601010000_0008");
  }

  @Test
  void aManifestUnderTheNameOfAnotherTaskPublishesNothing() throws Exception {
    File manifest = jobWithTwoTasks();
    File copy = new File(manifest.getParentFile(), "task_202601010000_0007_m_000009-manifest.json");
    writeBytes(copy, Files.readAllBytes(manifest.toPath()));

    assertRefused(
        CorruptManifestException.class, path(copy).toString(), "task_202601010000_0007_m_000001");
  }

  @Test
  void aManifestWithADestinationOutsideTheTablePublishesNothing() throws Exception {
    File manifest = jobWithTwoTasks();
    Path source = path(new File(workDirectory(1, 0), "part-1"));
    Path destination = path(new File(directory, "elsewhere/part-1"));
    rewrite(manifest, new FileEntry(source, destination, 1, null, 0));

    assertRefused(PlanRejectedException.class, source.toString(), destination.toString());
    assertThat(new File(directory, "elsewhere")).doesNotExist();
  }

  @Test
  void aManifestWithASourceOutsideTheJobPublishesNothing() throws Exception {
    File foreign = new File(directory, "secret");
    write(foreign, "of somebody else");
    File manifest = jobWithTwoTasks();
    Path destination = path(new File(table, "part-1"));
    rewrite(manifest, new FileEntry(path(foreign), destination, 16, null, 0));

    assertRefused(PlanRejectedException.class, path(foreign).toString(), destination.toString());
    assertThat(Files.readString(foreign.toPath())).isEqualTo("of somebody else");
  }

  @Test
  void aManifestWithADirectoryOutsideTheTablePublishesNothing() throws Exception {
    File manifest = jobWithTwoTasks();
    Path elsewhere = path(new File(directory, "elsewhere"));
    TaskManifest ours = manifest(manifest);
    writeBytes(
        manifest,
        TaskManifest.builder()
            .job(ours.jobId(), 0)
            .task(ours.taskId(), ours.taskAttemptId())
            .taskAttemptDirectory(ours.taskAttemptDirectory())
            .directories(List.of(new DirectoryEntry(elsewhere, DirectoryState.UNKNOWN, 1)))
            .build()
            .toJson());

    assertRefused(PlanRejectedException.class, elsewhere.toString(), path(table).toString());
    assertThat(new File(directory, "elsewhere")).doesNotExist();
  }

  @Test
  void twoTasksThatClaimOneDestinationPublishNothing() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0", "a", "same", "of task 0"));
    runTask(1, 0, Map.of("part-1", "b", "same", "of task 1"));

    assertRefused(
        PlanRejectedException.class,
        path(new File(workDirectory(0, 0), "same")).toString(),
        path(new File(workDirectory(1, 0), "same")).toString(),
        path(new File(table, "same")).toString());
  }

  @Test
  void aFileThatIsAlsoADirectoryPublishesNothing() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("x", "a file"));
    runTask(1, 0, Map.of("x/part-1", "in a directory"));

    assertRefused(
        PlanRejectedException.class,
        path(new File(workDirectory(0, 0), "x")).toString(),
        path(new File(table, "x")).toString());
  }

  @Test
  void aMissingDirectoryOfManifestsPublishesNothing() throws Exception {
    File manifest = jobWithTwoTasks();
    for (File file : manifest.getParentFile().listFiles()) {
      assertThat(file.delete()).isTrue();
    }
    assertThat(manifest.getParentFile().delete()).isTrue();

    assertRefused(IOException.class, path(manifest.getParentFile()).toString());
  }

  @Test
  void aTemporaryManifestIsNotCommitted() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    File manifests = new File(table, JOB_DIRECTORY + "/00/manifests");
    write(new File(manifests, "attempt_202601010000_0007_m_000001_0-manifest.json.tmp"), "cut sho");
    commitJob();

    assertThat(visible()).isEqualTo(Map.of("part-0", "a"));
  }

  @Test
  void aCommittedFileThatIsGoneFailsTheJob() throws Exception {
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    Files.delete(new File(workDirectory(0, 0), "part-0").toPath());

    assertThatThrownBy(this::commitJob)
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(
            new File(workDirectory(0, 0), "part-0").getPath(), new File(table, "part-0").getPath());
    assertThat(new File(table, "_SUCCESS")).doesNotExist();
  }

  /** A committed job of two tasks, with the path of the second one's manifest. */
  private File jobWithTwoTasks() throws IOException {
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    runTask(1, 0, Map.of("part-1", "b"));
    File manifest =
        new File(
            table, JOB_DIRECTORY + "/00/manifests/task_202601010000_0007_m_000001-manifest.json");
    assertThat(manifest).exists();
    return manifest;
  }

  private void assertRefused(Class<? extends Throwable> type, String... names) throws IOException {
    assertThatThrownBy(this::commitJob).isInstanceOf(type).hasMessageContainingAll(names);
    assertThat(visible()).isEmpty();
    assertThat(namesIn(table)).containsExactly("_temporary");
  }

  private void rewrite(File manifest, FileEntry file) throws IOException {
    TaskManifest ours = manifest(manifest);
    writeBytes(
        manifest,
        TaskManifest.builder()
            .job(ours.jobId(), ours.jobAttemptNumber())
            .task(ours.taskId(), ours.taskAttemptId())
            .taskAttemptDirectory(ours.taskAttemptDirectory())
            .files(List.of(file))
            .build()
            .toJson());
  }

  @Test
  void theJobsCommitterAbortsTheAttemptThatItIsToldOf() throws Exception {
    setupJob();
    setupTask(0, 0);
    setupTask(1, 0);
    write(new File(workDirectory(0, 0), "part-0"), "a");
    write(new File(workDirectory(1, 0), "part-1"), "b");

    jobCommitter().abortTask(context(1, 0));

    assertThat(workDirectory(1, 0)).doesNotExist();
    jobCommitter().commitTask(context(0, 0));
    commitJob();
    assertThat(visible()).isEqualTo(Map.of("part-0", "a"));
  }

  @Test
  void oneCommitterCommitsEachAttemptUnderItsOwnName() throws Exception {
    setupJob();
    PathOutputCommitter one = jobCommitter();
    for (int task = 0; task < 2; task++) {
      one.setupTask(context(task, 0));
      write(new File(workDirectory(task, 0), "part-" + task), "x");
      one.commitTask(context(task, 0));
    }
    commitJob();
    assertThat(visible()).containsOnlyKeys("part-0", "part-1");
  }

  @Test
  void abortAfterARetriedCommitThatSucceededKeepsTheTable() throws Exception {
    PathOutputCommitter job = jobThatFailedAtPart1();
    FaultyFileSystem.refusedRename = destination -> false;
    job.commitJob(jobContext());
    assertThat(visible()).hasSize(2);

    job.abortJob(jobContext(), JobStatus.State.FAILED);

    assertThat(visible()).isEqualTo(Map.of("part-0", "a", "p/part-1", "b"));
  }

  @Test
  void abortAfterTwoFailedCommitsTakesBackWhatTheFirstPublished() throws Exception {
    PathOutputCommitter job = jobThatFailedAtPart1();
    File manifest =
        new File(
            table, JOB_DIRECTORY + "/00/manifests/task_202601010000_0007_m_000000-manifest.json");
    writeBytes(manifest, new byte[0]);
    assertThatThrownBy(() -> job.commitJob(jobContext()))
        .isInstanceOf(CorruptManifestException.class);

    job.abortJob(jobContext(), JobStatus.State.FAILED);

    assertThat(visible()).isEmpty();
    assertThat(namesIn(table)).isEmpty();
  }

  @Test
  void aCommitThatFailedAtItsReportCanBeTriedAgain() throws Exception {
    PathOutputCommitter job = secondJobThatFailedAtItsReport();

    job.commitJob(jobContext());

    assertThat(visible()).isEqualTo(Map.of("part-0", "a", "part-1", "bb"));
    assertThat(listedFiles()).isEqualTo(Map.of("part-1", 2L));
  }

  @Test
  void abortAfterAFailedReportBringsTheListBack() throws Exception {
    PathOutputCommitter job = secondJobThatFailedAtItsReport();

    job.abortJob(jobContext(), JobStatus.State.FAILED);

    assertThat(visible()).isEqualTo(Map.of("part-0", "a"));
    assertThat(listedFiles()).isEqualTo(Map.of("part-0", 1L));
  }

  @Test
  void abortAfterAFailedValidationNamesTheFileItCannotTakeBack() throws Exception {
    conf.setBoolean(CommitterConfig.VALIDATE_OUTPUT, true);
    setupJob();
    runTask(0, 0, Map.of("part-0", "as committed"));
    write(new File(workDirectory(0, 0), "part-0"), "changed since");
    PathOutputCommitter job = jobCommitter();
    assertThatThrownBy(() -> job.commitJob(jobContext()))
        .isInstanceOf(OutputInvalidException.class);

    assertThatThrownBy(() -> job.abortJob(jobContext(), JobStatus.State.FAILED))
        .satisfies(
            e ->
                assertThat(e.getSuppressed())
                    .anySatisfy(s -> assertThat(s).hasMessageContaining("part-0")));
  }

  /** A job that published part-0 and could not publish part-1; the store goes on refusing that. */
  private PathOutputCommitter jobThatFailedAtPart1() throws IOException {
    conf.set(CommitterConfig.IO_THREADS, "1");
    useFaultyFileSystem();
    FaultyFileSystem.refusedRename = destination -> destination.getName().equals("part-1");
    setupJob();
    runTask(0, 0, Map.of("part-0", "a", "p/part-1", "b"));
    PathOutputCommitter job = jobCommitter();
    assertThatThrownBy(() -> job.commitJob(jobContext())).isInstanceOf(IOException.class);
    return job;
  }

  /**
   * A job after one that committed part-0: it published part-1 (2 bytes) and failed at {@code
   * _SUCCESS}.
   */
  private PathOutputCommitter secondJobThatFailedAtItsReport() throws IOException {
    setupJob();
    runTask(0, 0, Map.of("part-0", "a"));
    commitJob();
    conf.set("spark.sql.sources.writeJobUUID", "second");
    useFaultyFileSystem();
    setupJob();
    runTask(0, 0, Map.of("part-1", "bb"));
    FaultyFileSystem.refusedRename = destination -> destination.getName().equals("_SUCCESS");
    PathOutputCommitter job = jobCommitter();
    assertThatThrownBy(() -> job.commitJob(jobContext())).isInstanceOf(IOException.class);
    FaultyFileSystem.refusedRename = destination -> false;
    return job;
  }

  private void setupJob() throws IOException {
    jobCommitter().setupJob(jobContext());
  }

  private void commitJob() throws IOException {
    jobCommitter().commitJob(jobContext());
  }

  private PathOutputCommitter setupTask(int task, int attempt) throws IOException {
    PathOutputCommitter committer = committer(task, attempt);
    committer.setupTask(context(task, attempt));
    return committer;
  }

  private void runTask(int task, int attempt, Map<String, String> files) throws IOException {
    PathOutputCommitter committer = setupTask(task, attempt);
    for (Map.Entry<String, String> file : files.entrySet()) {
      write(new File(workDirectory(task, attempt), file.getKey()), file.getValue());
    }
    committer.commitTask(context(task, attempt));
  }

  private PathOutputCommitter jobCommitter() throws IOException {
    return committer(0, 0);
  }

  private PathOutputCommitter committer(int task, int attempt) throws IOException {
    return committer(conf, task, attempt);
  }

  private PathOutputCommitter committer(Configuration options, int task, int attempt)
      throws IOException {
    return PathOutputCommitterFactory.createCommitter(path(table), context(options, task, attempt));
  }

  private JobContext jobContext() {
    return new JobContextImpl(conf, JOB);
  }

  private TaskAttemptContext context(int task, int attempt) {
    return context(conf, task, attempt);
  }

  private static TaskAttemptContext context(Configuration options, int task, int attempt) {
    return new TaskAttemptContextImpl(
        options, new TaskAttemptID(new TaskID(JOB, TaskType.MAP, task), attempt));
  }

  private File workDirectory(int task, int attempt) throws IOException {
    return new File(committer(task, attempt).getWorkPath().toUri().getPath());
  }

  private void useFaultyFileSystem() {
    conf.set("fs.file.impl", FaultyFileSystem.class.getName());
    conf.setBoolean("fs.file.impl.disable.cache", true);
  }

  /** The files that a reader of the table sees, with their content. */
  private Map<String, String> visible() throws IOException {
    if (!table.exists()) {
      return Map.of();
    }
    java.nio.file.Path root = table.toPath();
    try (Stream<java.nio.file.Path> all = Files.walk(root)) {
      return all.filter(Files::isRegularFile)
          .map(root::relativize)
          .filter(file -> !file.getFileName().toString().endsWith(".crc"))
          .filter(file -> !file.getName(0).toString().startsWith("_"))
          .collect(Collectors.toMap(Object::toString, file -> text(root.resolve(file))));
    }
  }

  private Map<String, Long> listedFiles() throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    File file = new File(table, "_SUCCESS.files");
    try (FileList list =
        FileList.read(Files.newInputStream(file.toPath()), path(file).toString())) {
      assertThat(list.table()).isEqualTo(path(table));
      Optional<FileList.Entry> next = list.next();
      while (next.isPresent()) {
        sizes.put(next.get().path(), next.get().size());
        next = list.next();
      }
    }
    return sizes;
  }

  private static Set<String> namesIn(File parent) {
    Set<String> names = new TreeSet<>();
    for (String name : parent.list()) {
      if (!name.endsWith(".crc")) {
        names.add(name);
      }
    }
    return names;
  }

  private static SuccessReport report(File file) throws IOException {
    return SuccessReport.parse(Files.readAllBytes(file.toPath()), file.getPath());
  }

  private static TaskManifest manifest(File file) throws IOException {
    return TaskManifest.parse(Files.readAllBytes(file.toPath()), file.getPath());
  }

  private static Path path(File file) {
    return StorePaths.resolve(new Path("file:/"), file.getPath().substring(1));
  }

  private static String text(java.nio.file.Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(File file, String text) throws IOException {
    writeBytes(file, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes past Hadoop, so its checksum of an earlier content has to go. */
  private static void writeBytes(File file, byte[] content) throws IOException {
    Files.createDirectories(file.getParentFile().toPath());
    Files.write(file.toPath(), content);
    Files.deleteIfExists(new File(file.getParentFile(), "." + file.getName() + ".crc").toPath());
  }

  /** The local filesystem, which refuses what a test says. */
  public static final class FaultyFileSystem extends LocalFileSystem {
    private static volatile Predicate<Path> refusedRename = path -> false;
    private static volatile Predicate<Path> refusedDelete = path -> false;

    @Override
    public boolean rename(Path source, Path destination) throws IOException {
      if (refusedRename.test(destination)) {
        throw new IOException("no rename to " + destination);
      }
      return super.rename(source, destination);
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
      if (refusedDelete.test(path)) {
        throw new IOException("no deletion of " + path);
      }
      return super.delete(path, recursive);
    }
  }
}
