// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.manifestcommitter.cli.ManifestPrinter;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.manifest.TaskManifest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.lib.output.committer.manifest.ManifestCommitterConstants;
import org.apache.hadoop.mapreduce.lib.output.committer.manifest.ManifestCommitterFactory;
import org.apache.hadoop.mapreduce.lib.output.committer.manifest.files.ManifestSuccessData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hadoop's own manifest committer beside ours: the same jobs, and each with the other's tools. */
class PeerIT extends OnHdfs {
  private static final String REPORTS = "mapreduce.manifest.committer.summary.report.directory";

  @Test
  void bothCommittersMakeTheSameTable() throws Exception {
    TestJob ours = writtenJob(conf());
    TestJob theirs = writtenJob(peerConf());
    ours.commitJob();
    theirs.commitJob();

    Map<String, String> tree = hdfs.visible(ours.table);
    assertThat(tree).hasSize(9);
    assertThat(tree).isEqualTo(hdfs.visible(theirs.table));
    for (TestJob job : List.of(ours, theirs)) {
      assertThat(hdfs.fs().exists(new Path(job.table, "_SUCCESS"))).isTrue();
      assertThat(hdfs.fs().exists(new Path(job.table, "_temporary"))).isFalse();
    }
  }

  /**
   * The names of the job directories differ, as "Manifest Committer Protocol" has it, and nothing
   * else.
   */
  @Test
  void theOneDifferenceOfLayoutIsTheNameOfTheJobDirectory() throws Exception {
    TestJob ours = writtenJob(conf());
    TestJob theirs = writtenJob(peerConf());

    Path oursTemporary = new Path(ours.table, "_temporary");
    Path theirsTemporary = new Path(theirs.table, "_temporary");
    assertThat(names(oursTemporary)).containsExactly("manifest_" + ours.id());
    assertThat(names(theirsTemporary)).containsExactly(theirs.id());
    assertThat(below(new Path(oursTemporary, "manifest_" + ours.id()), ours.id()))
        .isEqualTo(below(new Path(theirsTemporary, theirs.id()), theirs.id()));
  }

  @Test
  void theirClassesLoadOurManifests() throws Exception {
    TestJob job = writtenJob(conf());
    int files = 0;
    for (Path file : manifests(new Path(job.directory(), "00/manifests"))) {
      TaskManifest ours = TaskManifest.parse(hdfs.bytes(file), file.toString());
      org.apache.hadoop.mapreduce.lib.output.committer.manifest.files.TaskManifest theirs =
          org.apache.hadoop.mapreduce.lib.output.committer.manifest.files.TaskManifest.load(
              hdfs.fs(), file);
      theirs.validate();
      assertThat(theirs.getJobId()).isEqualTo(job.id());
      assertThat(theirs.getTaskID()).isEqualTo(ours.taskId);
      assertThat(theirs.getTaskAttemptID()).isEqualTo(ours.taskAttemptId);
      assertThat(theirs.getTaskAttemptDir()).isEqualTo(ours.taskAttemptDirectory.toString());
      assertThat(theirs.getFilesToCommit())
          .extracting(
              entry ->
                  tuple(
                      entry.getSourcePath(), entry.getDestPath(), entry.getSize(), entry.getEtag()))
          .isEqualTo(
              ours.files.stream()
                  .map(
                      entry ->
                          tuple(entry.source(), entry.destination(), entry.size(), entry.etag()))
                  .toList());
      assertThat(theirs.getDestDirectories())
          .extracting(entry -> entry.getDestPath())
          .containsExactlyElementsOf(ours.directories.stream().map(entry -> entry.path).toList());
      files += theirs.getFilesToCommit().size();
    }
    assertThat(files).isEqualTo(5);
  }

  @Test
  void ourClassesLoadTheirManifests() throws Exception {
    TestJob job = writtenJob(peerConf());
    int files = 0;
    List<String> attempts = new ArrayList<>();
    List<Path> manifests =
        manifests(new Path(job.table, "_temporary/" + job.id() + "/00/manifests"));
    for (Path file : manifests) {
      TaskManifest ours = TaskManifest.parseForeign(hdfs.bytes(file), file.toString());
      org.apache.hadoop.mapreduce.lib.output.committer.manifest.files.TaskManifest theirs =
          org.apache.hadoop.mapreduce.lib.output.committer.manifest.files.TaskManifest.load(
              hdfs.fs(), file);
      assertThat(ours.jobId).isEqualTo(job.id());
      assertThat(ours.taskId).isEqualTo(theirs.getTaskID());
      assertThat(ours.taskAttemptId).isEqualTo(theirs.getTaskAttemptID());
      assertThat(ours.files)
          .extracting(entry -> tuple(entry.source(), entry.destination(), entry.size()))
          .isEqualTo(
              theirs.getFilesToCommit().stream()
                  .map(entry -> tuple(entry.getSourcePath(), entry.getDestPath(), entry.getSize()))
                  .toList());
      files += ours.files.size();
      attempts.add(ours.taskAttemptId);
    }
    assertThat(files).isEqualTo(5);
    assertThat(printedByOurs(manifests)).contains(attempts);
  }

  @Test
  void theirToolsReadOurReports() throws Exception {
    Path reports = hdfs.newTable("reports");
    Configuration conf = conf();
    conf.set(REPORTS, reports.toString());
    TestJob job = writtenJob(conf);
    job.commitJob();

    for (Path file :
        List.of(
            new Path(job.table, "_SUCCESS"), new Path(reports, "summary-" + job.id() + ".json"))) {
      SuccessReport ours = SuccessReport.parse(hdfs.bytes(file), file.toString());
      ManifestSuccessData theirs = ManifestSuccessData.load(hdfs.fs(), file);
      theirs.validate();
      assertThat(theirs.getSuccess()).isTrue();
      assertThat(theirs.getJobId()).isEqualTo(job.id());
      assertThat(theirs.getJobIdSource()).isEqualTo("JobID");
      assertThat(theirs.getCommitter()).isEqualTo(ours.committer());
      assertThat(theirs.getTimestamp()).isEqualTo(ours.timestamp());
      assertThat(theirs.getFilenames()).hasSize(5).isEqualTo(ours.filenames());
      assertThat(theirs.getDiagnostics()).isEqualTo(ours.diagnostics());
      assertThat(theirs.getIOStatistics().counters())
          .containsAllEntriesOf(ours.statistics().counters())
          .containsEntry("committer_files_committed", 5L);
      assertThat(printedByTheirs(file)).contains(job.id()).contains("committer_files_committed");
    }
  }

  @Test
  void theirToolsReadTheReportOfAJobThatFailed() throws Exception {
    Path reports = hdfs.newTable("reports-of-failure");
    Configuration conf = conf();
    conf.set(REPORTS, reports.toString());
    TestJob job = writtenJob(conf);
    hdfs.write(new Path(job.table, "part-0"), "in the way");
    assertThatThrownBy(job::commitJob).isInstanceOf(IOException.class);

    Path file = new Path(reports, "summary-" + job.id() + ".json");
    ManifestSuccessData theirs = ManifestSuccessData.load(hdfs.fs(), file);
    assertThat(theirs.getSuccess()).isFalse();
    assertThat(theirs.getDiagnostics())
        .containsEntry("stage", "job_stage_rename_files")
        .containsKeys("exception", "stacktrace");
    assertThat(printedByTheirs(file)).contains(job.id());
  }

  @Test
  void ourToolsReadTheirReports() throws Exception {
    Path reports = hdfs.newTable("peer-reports");
    Configuration conf = peerConf();
    conf.set(REPORTS, reports.toString());
    TestJob job = writtenJob(conf);
    job.commitJob();

    List<Path> files =
        List.of(
            new Path(job.table, "_SUCCESS"), new Path(reports, "summary-" + job.id() + ".json"));
    for (Path file : files) {
      SuccessReport ours = SuccessReport.parse(hdfs.bytes(file), file.toString());
      ManifestSuccessData theirs = ManifestSuccessData.load(hdfs.fs(), file);
      assertThat(ours.success()).isTrue();
      assertThat(ours.jobId()).isEqualTo(job.id());
      assertThat(ours.committer()).isEqualTo(theirs.getCommitter());
      assertThat(ours.filenames()).isEqualTo(theirs.getFilenames());
      assertThat(ours.statistics().counters())
          .containsEntry("committer_files_committed", 5L)
          .containsEntry("task_stage_commit", 3L);
    }
    assertThat(printedByOurs(files))
        .contains(job.id(), files.get(0).toString(), files.get(1).toString());
  }

  /** A user of Hadoop's committer changes one class name, so each of its options has to be here. */
  @Test
  void everyOptionOfTheirsIsOneOfOurs() throws Exception {
    Set<String> theirs = new TreeSet<>();
    for (Field field : ManifestCommitterConstants.class.getDeclaredFields()) {
      if (field.getType() == String.class && field.canAccess(null)) {
        String value = (String) field.get(null);
        if (value.startsWith(ManifestCommitterConstants.OPT_PREFIX)
            && !value.equals(ManifestCommitterConstants.OPT_PREFIX)) {
          theirs.add(value);
        }
      }
    }
    assertThat(theirs).hasSize(10);
    assertThat(fallbacks().keySet()).containsAll(theirs);
  }

  /**
   * Of the defaults, only {@code io.threads} follows "The Manifest Committer for Azure and Google
   * Cloud Storage" instead of Hadoop's code.
   */
  @Test
  void theDefaultsAreTheirs() {
    assertThat(fallbacks())
        .containsEntry(
            ManifestCommitterConstants.OPT_CLEANUP_PARALLEL_DELETE,
            Boolean.toString(ManifestCommitterConstants.OPT_CLEANUP_PARALLEL_DELETE_DIRS_DEFAULT))
        .containsEntry(
            ManifestCommitterConstants.OPT_CLEANUP_PARALLEL_DELETE_BASE_FIRST,
            Boolean.toString(
                ManifestCommitterConstants.OPT_CLEANUP_PARALLEL_DELETE_BASE_FIRST_DEFAULT))
        .containsEntry(
            ManifestCommitterConstants.OPT_DELETE_TARGET_FILES,
            Boolean.toString(ManifestCommitterConstants.OPT_DELETE_TARGET_FILES_DEFAULT))
        .containsEntry(
            ManifestCommitterConstants.OPT_VALIDATE_OUTPUT,
            Boolean.toString(ManifestCommitterConstants.OPT_VALIDATE_OUTPUT_DEFAULT))
        .containsEntry(
            ManifestCommitterConstants.OPT_MANIFEST_SAVE_ATTEMPTS,
            Integer.toString(ManifestCommitterConstants.OPT_MANIFEST_SAVE_ATTEMPTS_DEFAULT))
        .containsEntry(
            ManifestCommitterConstants.OPT_WRITER_QUEUE_CAPACITY,
            Integer.toString(ManifestCommitterConstants.DEFAULT_WRITER_QUEUE_CAPACITY))
        .containsEntry(ManifestCommitterConstants.OPT_SUMMARY_REPORT_DIR, "")
        .containsEntry(ManifestCommitterConstants.OPT_DIAGNOSTICS_MANIFEST_DIR, "")
        .containsEntry(ManifestCommitterConstants.OPT_IO_PROCESSORS, "64");
  }

  /** Settings that were made for Hadoop's committer name its classes; they go on working. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "org.apache.hadoop.mapreduce.lib.output.committer.manifest.impl.ManifestStoreOperationsThroughFileSystem",
        "org.apache.hadoop.fs.azurebfs.commit.AbfsManifestStoreOperations"
      })
  void theirStoreOperationsAreAccepted(String className) throws Exception {
    Configuration conf = conf();
    conf.set(ManifestCommitterConstants.OPT_STORE_OPERATIONS_CLASS, className);
    TestJob job = writtenJob(conf);
    job.commitJob();

    assertThat(hdfs.visibleFiles(job.table)).hasSize(5);
  }

  private Configuration conf() {
    return hdfs.conf();
  }

  private Configuration peerConf() {
    Configuration conf = hdfs.conf();
    conf.set(Hdfs.FACTORY_KEY, ManifestCommitterFactory.class.getName());
    return conf;
  }

  /**
   * Three tasks with five files in four directories, one of them with a first attempt that died.
   */
  private TestJob writtenJob(Configuration conf) throws IOException {
    TestJob job = TestJob.start(conf, hdfs.newTable("peer"));
    job.attempt(0, 0).write("p=1/dead", "dead").abort();
    job.attempt(0, 1).write("part-0", "zero").write("p=1/part-0", "one").commit();
    job.attempt(1, 0).write("p=1/part-1", "").write("p=a b/q=%25/part-1", "three").commit();
    job.attempt(2, 0).write("p=1/q=1/part-2", "four").commit();
    return job;
  }

  private static Map<String, String> fallbacks() {
    return CommitterConfig.options().stream()
        .collect(Collectors.toMap(option -> option.key, option -> option.fallback));
  }

  private List<String> names(Path directory) throws IOException {
    List<String> names = new ArrayList<>();
    for (FileStatus child : hdfs.fs().listStatus(directory)) {
      names.add(child.getPath().getName());
    }
    return names;
  }

  /** All paths below a job's directory and whether they are directories, without the job's id. */
  private Map<String, Boolean> below(Path jobDirectory, String jobId) throws IOException {
    Map<String, Boolean> tree = new TreeMap<>();
    collect(jobDirectory, "", jobId.substring("job_".length()), tree);
    return tree;
  }

  private void collect(Path directory, String prefix, String id, Map<String, Boolean> tree)
      throws IOException {
    for (FileStatus child : hdfs.fs().listStatus(directory)) {
      String name = prefix + child.getPath().getName().replace(id, "<id>");
      tree.put(name, child.isDirectory());
      if (child.isDirectory()) {
        collect(child.getPath(), name + "/", id, tree);
      }
    }
  }

  private List<Path> manifests(Path directory) throws IOException {
    List<Path> manifests = new ArrayList<>();
    for (FileStatus child : hdfs.fs().listStatus(directory)) {
      assertThat(child.getPath().getName()).endsWith("-manifest.json");
      manifests.add(child.getPath());
    }
    assertThat(manifests).hasSize(3);
    return manifests;
  }

  private String printedByTheirs(Path file) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int code =
        new org.apache.hadoop.mapreduce.lib.output.committer.manifest.files.ManifestPrinter(
                hdfs.conf(), new PrintStream(out, true, StandardCharsets.UTF_8))
            .run(new String[] {file.toString()});
    assertThat(code).isZero();
    return out.toString(StandardCharsets.UTF_8);
  }

  /** Runs our printer as its users do: in a JVM of its own. */
  private static String printedByOurs(List<Path> files) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(ManifestPrinter.class.getName());
    files.forEach(file -> command.add(file.toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(printed).isZero();
    return printed;
  }
}
