// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.testing.MemoryStoreState.Snapshot;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A job of three tasks into a table that has some of its partitions, another job's data, and
 * something in the way. One of the files at a destination has the length of the file that replaces
 * it: on a store without etags or times nothing tells the two apart.
 */
final class FaultScenario {
  private static final Map<String, String> FIRST = contents("r", "p=1/a", "p=2/b");
  private static final Map<String, String> SECOND = contents("p=1/c", "p=3/x=1/d");

  final HadoopJobHarness job;

  /** The store after all tasks committed. */
  final Snapshot tasksCommitted;

  private final NavigableMap<String, String> newFiles;
  private final NavigableSet<String> newDirectories;
  private final NavigableMap<String, String> oldFiles;
  private final NavigableSet<String> oldDirectories;

  /** Runs the job up to its commit. */
  FaultScenario(String scheme, Obstacle obstacle, String store) throws IOException {
    job = HadoopJobHarness.memory(scheme, store);
    job.state().clear();
    oldTable(obstacle);
    job.setupJob();
    oldFiles = withoutJob(job.files.files());
    oldDirectories = job.visibleDirectories();

    job.runTask(0, 0, FIRST);
    job.setupTask(1, 0);
    job.writeTask(1, 0, SECOND);
    job.files.mkdirs(job.workDirectory(1, 0) + "/p=4/empty");
    job.commitTask(1, 0);
    job.runTask(2, 0, Map.of());
    tasksCommitted = job.state().snapshot();

    newFiles = new TreeMap<>(job.visible());
    newFiles.remove("p=2");
    newFiles.putAll(FIRST);
    newFiles.putAll(SECOND);
    newDirectories = new TreeSet<>(oldDirectories);
    newDirectories.addAll(List.of("p=2", "p=3", "p=3/x=1", "p=4", "p=4/empty"));
  }

  private void oldTable(Obstacle obstacle) throws IOException {
    job.write("p=1/earlier", "of an earlier job");
    job.write("p=5/earlier", "of an earlier job");
    job.files.mkdirs("p=1/sub");
    job.write("_temporary/manifest_other/00/tasks/attempt/part", "of another job");
    job.write("_SUCCESS", "the last report");
    job.write("_SUCCESS.files", "the last list");
    if (obstacle == Obstacle.FILE_FOR_DIRECTORY) {
      job.write("p=2", "a file in the way");
    }
    if (obstacle == Obstacle.TARGET_FILES) {
      job.conf.setBoolean(CommitterConfig.DELETE_TARGET_FILES, true);
      job.write("r", "of an earlier job");
      job.write("p=1/a", "of an earlier job");
      job.write("p=1/c", "old p=1/c");
    }
  }

  /** What stands in the job's way. */
  enum Obstacle {
    /** Nothing. */
    NONE,
    /** A file where a directory has to be. */
    FILE_FOR_DIRECTORY,
    /** Files at destinations, which give way by {@code delete.target.files}. */
    TARGET_FILES
  }

  /** Whether the store has a report of this job. */
  boolean isReported() throws IOException {
    String report = job.files.files().getOrDefault("_SUCCESS", "");
    return report.contains("\"" + job.jobId() + "\"") && report.endsWith("}");
  }

  /** The table is the new one, the report is this job's and complete, and nothing else is left. */
  void assertCommitted(String context) throws IOException {
    assertThat(job.visible()).as(context).isEqualTo(newFiles);
    assertThat(job.visibleDirectories()).as(context).isEqualTo(newDirectories);
    SuccessReport report = job.report();
    assertThat(report.success()).as(context).isTrue();
    assertThat(report.jobId()).as(context).isEqualTo(job.jobId());
    int count = FIRST.size() + SECOND.size();
    assertThat(report.filenames()).as(context).hasSize(count);
    assertThat(report.statistics().counters())
        .as(context)
        .containsEntry(StatisticNames.COMMITTER_FILES_COMMITTED, (long) count)
        .containsEntry(StatisticNames.COMMITTER_TASKS_COMPLETED, 3L);
    assertThat(job.listedFiles()).as(context).isEqualTo(sizes());
    assertNothingLeft(context);
    assertThat(job.namesIn(""))
        .as(context)
        .containsExactly(
            "_SUCCESS", "_SUCCESS.files", "_temporary", "p=1", "p=2", "p=3", "p=4", "p=5", "r");
  }

  /** All is as it was before the job's tasks ran. */
  void assertRolledBack(String context) throws IOException {
    assertThat(withoutJob(job.files.files())).as(context).isEqualTo(oldFiles);
    assertThat(job.visibleDirectories()).as(context).isEqualTo(oldDirectories);
    assertNothingLeft(context);
  }

  private void assertNothingLeft(String context) throws IOException {
    assertThat(job.namesIn("_temporary")).as(context).containsExactly("manifest_other");
    assertThat(job.text("_temporary/manifest_other/00/tasks/attempt/part"))
        .as(context)
        .isEqualTo("of another job");
  }

  private NavigableMap<String, String> withoutJob(NavigableMap<String, String> files) {
    files.keySet().removeIf(path -> path.startsWith(job.jobDirectory() + "/"));
    return files;
  }

  private static Map<String, Long> sizes() {
    Map<String, String> all = new TreeMap<>(FIRST);
    all.putAll(SECOND);
    return all.entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, file -> (long) file.getValue().length()));
  }

  private static Map<String, String> contents(String... names) {
    Map<String, String> contents = new TreeMap<>();
    for (String name : names) {
      contents.put(name, "new " + name);
    }
    return contents;
  }
}
