// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.store.UnsupportedStoreException;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.audit.CommonAuditContext;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobContextImpl;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the Hadoop protocol behaves towards those who watch it: errors, progress, audit, options. */
class ManifestCommitterConductTest {
  private final HadoopJobHarness job = HadoopJobHarness.memory("abfs", "conduct");

  @BeforeEach
  void empty() {
    job.state().clear();
    // A driver's thread goes on telling of the last job that it worked for.
    CommonAuditContext.currentAuditContext().reset();
  }

  @Test
  void anErrorOfAHelperThreadStopsTheCommitAndIsReportedWithStagePathAndStack() throws Exception {
    job.conf.set(CommitterConfig.SUMMARY_REPORT_DIRECTORY, "abfs://conduct/reports");
    runTask(20);
    job.state().onRequest(Fault.on("rename", Fate.FAILS_BEFORE, path -> path.contains("part-7")));
    Throwable failure = catchThrowable(job::commitJob);

    assertThat(failure)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("part-7")
        .hasRootCauseMessage(
            "injected before rename " + job.path(job.workDirectory(0, 0) + "/part-7"));
    SuccessReport report =
        SuccessReport.parse(
            job.state().bytes("/reports/summary-" + HadoopJobHarness.JOB_NAME + ".json"), "report");
    assertThat(report.success()).isFalse();
    assertThat(report.stage()).isEqualTo("job_stage_rename_files");
    assertThat(report.diagnostics())
        .containsEntry("stage", "job_stage_rename_files")
        .hasEntrySatisfying("path", path -> assertThat(path).contains("/table/part-7"))
        .hasEntrySatisfying("exception", text -> assertThat(text).contains("part-7"))
        .hasEntrySatisfying("stacktrace", text -> assertThat(text).contains("PublishFiles"));
    assertThat(job.visible()).as("what was begun, and no more").hasSizeLessThan(20);
  }

  @Test
  void allErrorsOfHelperThreadsAreTold() throws Exception {
    job.conf.set(CommitterConfig.IO_THREADS, "2");
    runTask(2);
    job.state()
        .onRequest(
            (number, operation, path) ->
                operation.equals("mkdirs") || operation.equals("rename")
                    ? Fate.FAILS_BEFORE
                    : Fate.NORMAL);
    Throwable failure = catchThrowable(job::commitJob);

    Set<String> told = new TreeSet<>();
    told.add(failure.getMessage().replaceAll(".*table/(part-\\d).*", "$1"));
    for (Throwable suppressed : failure.getSuppressed()) {
      told.add(suppressed.getMessage().replaceAll(".*table/(part-\\d).*", "$1"));
    }
    assertThat(told).isNotEmpty().isSubsetOf("part-0", "part-1");
    assertThat(job.visible()).isEmpty();
  }

  @Test
  void everyLongLoopTellsOfProgress() throws Exception {
    runTask(50);
    AtomicInteger progress = new AtomicInteger();
    job.jobCommitter()
        .commitJob(new JobContextImpl(new JobConf(job.conf), job.id, progress::incrementAndGet));

    // 50 renames and 50 lines of the list of files, at the least.
    assertThat(progress).hasValueGreaterThanOrEqualTo(100);
  }

  @Test
  void everyRequestTellsForWhichJobAttemptAndStageItIs() throws Exception {
    Map<String, Set<String>> told = new ConcurrentHashMap<>();
    job.state()
        .onRequest(
            (number, operation, path) -> {
              told.computeIfAbsent(operation, key -> ConcurrentHashMap.newKeySet()).add(told());
              return Fate.NORMAL;
            });
    runTask(3);
    assertThat(told.get("list"))
        .contains(
            HadoopJobHarness.JOB_NAME + " attempt_202601010000_0007_m_000000_0 task_stage_commit");
    told.clear();
    job.commitJob();

    String name = HadoopJobHarness.JOB_NAME + " null ";
    assertThat(told.get("open")).containsExactly(name + "job_stage_load_manifests");
    assertThat(told.get("rename"))
        .containsExactlyInAnyOrder(
            name + "job_stage_rename_files", name + "job_stage_save_success_marker");
    assertThat(told.get("delete")).containsExactly(name + "job_stage_cleanup");
    assertThat(CommonAuditContext.currentAuditContext().get("st")).isNull();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theManifestsOfAJobAreKeptWhereTheUserWants(boolean commits) throws Exception {
    job.conf.set(CommitterConfig.DIAGNOSTICS_MANIFEST_DIRECTORY, "mem://conduct/elsewhere");
    runTask(3);
    TaskManifest manifest = job.manifest(0);
    if (commits) {
      job.commitJob();
    } else {
      job.abortJob();
    }

    String kept = "/elsewhere/" + job.jobId() + "/task_202601010000_0007_m_000000-manifest.json";
    assertThat(TaskManifest.parse(job.state().bytes(kept), kept).toJson())
        .isEqualTo(manifest.toJson());
    assertThat(job.exists("_temporary")).isFalse();
  }

  @Test
  void aDirectoryForManifestsThatCannotBeWrittenDoesNotFailTheJob() throws Exception {
    job.conf.set(CommitterConfig.DIAGNOSTICS_MANIFEST_DIRECTORY, "abfs://conduct/elsewhere");
    job.state().write("/elsewhere", "a file");
    runTask(3);
    job.commitJob();

    assertThat(job.visible()).hasSize(3);
  }

  @Test
  void baseFirstDeletesTheJobInOneRequest() throws Exception {
    job.conf.setBoolean(CommitterConfig.CLEANUP_PARALLEL_DELETE_BASE_FIRST, true);
    runTask(3);
    job.state().resetRequests();
    job.commitJob();

    assertThat(job.state().requests().stream().filter(request -> request.startsWith("delete")))
        .containsExactly("delete /table/" + job.jobDirectory(), "delete /table/_temporary");
  }

  @Test
  void baseFirstDeletesInPartsWhatCannotBeDeletedAtOnce() throws Exception {
    job.conf.setBoolean(CommitterConfig.CLEANUP_PARALLEL_DELETE_BASE_FIRST, true);
    runTask(3);
    job.state()
        .onRequest(
            Fault.first("delete", Fate.FAILS_BEFORE, path -> path.endsWith(job.jobDirectory())));
    job.commitJob();

    assertThat(job.exists("_temporary")).isFalse();
    assertThat(job.state().requests()).contains("delete /table/" + job.workDirectory(0, 0));
  }

  @Test
  void anAccountWithoutDirectoriesFailsTheSetup() {
    job.conf.setBoolean(MemoryFileSystem.FLAT, true);

    assertThatThrownBy(job::setupJob)
        .isInstanceOf(UnsupportedStoreException.class)
        .hasMessageContainingAll(job.table.toString(), "hierarchical namespace", "upgraded");
    assertThat(job.state().paths()).containsExactly("/");
  }

  @Test
  void manifestsOfAnotherJobOfTheSameIdAreNotTakenForOurs() throws Exception {
    runTask(3);
    PathOutputCommitter second = job.jobCommitter();

    assertThatThrownBy(() -> second.setupJob(job.jobContext()))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("the same id", "delete", job.jobDirectory());
    second.abortJob(job.jobContext(), JobStatus.State.FAILED);
    job.commitJob();

    assertThat(job.visible()).as("the first job's").hasSize(3);
  }

  private void runTask(int files) throws IOException {
    job.setupJob();
    Map<String, String> content = new TreeMap<>();
    for (int file = 0; file < files; file++) {
      content.put("part-" + file, "content");
    }
    job.runTask(0, 0, content);
  }

  private static String told() {
    CommonAuditContext context = CommonAuditContext.currentAuditContext();
    return context.get("ji") + " " + context.get("tai") + " " + context.get("st");
  }
}
