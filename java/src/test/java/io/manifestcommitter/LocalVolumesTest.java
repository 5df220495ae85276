// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.testing.SparkWrite;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A table of which a partition is a link to another volume. */
class LocalVolumesTest {
  private static final Path VOLUME = Paths.get("/dev/shm");

  @TempDir Path directory;

  private Path other;
  private HadoopJobHarness job;

  @BeforeEach
  void linkPartition() throws IOException {
    assumeThat(Files.isDirectory(VOLUME)).isTrue();
    assumeThat(Files.getFileStore(VOLUME)).isNotEqualTo(Files.getFileStore(directory));
    other = Files.createTempDirectory(VOLUME, "partition");
    File table = directory.resolve("table").toFile();
    assertThat(table.mkdirs()).isTrue();
    Files.createSymbolicLink(table.toPath().resolve("p=1"), other);
    job = HadoopJobHarness.local(table);
    job.conf.set(CommitterConfig.IO_THREADS, "1");
  }

  @AfterEach
  void removePartition() throws IOException {
    if (other != null) {
      for (Path file : content()) {
        Files.delete(file);
      }
      Files.delete(other);
    }
  }

  @Test
  void aCommitIsRefusedBeforeItChangesAnything() throws IOException {
    job.runTasks(Map.of("p=1/a", "new a", "p=2/b", "new b"));

    assertThatThrownBy(job::commitJob)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContainingAll("p=1 is on another volume than", "Nothing was changed");
    job.abortJob();

    assertThat(other).isEmptyDirectory();
    assertThat(directory.resolve("table/p=2")).doesNotExist();
  }

  @Test
  void anAppendOfTheSparkProtocolIsRefused() throws IOException {
    SparkWrite write = SparkWrite.append(new Configuration(), table()).task(0, "p=1", "p=2");

    assertThatThrownBy(write::commit)
        .hasMessageContainingAll("p=1 is on another volume than", "Nothing was changed");
    write.abort();

    assertThat(other).isEmptyDirectory();
    assertThat(directory.resolve("table/p=2")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"static", "dynamic"})
  void anOverwriteIsRefused(String kind) throws IOException {
    Files.writeString(other.resolve("old"), "old");
    SparkWrite write = SparkWrite.begin(new Configuration(), table(), kind).task(0, "p=1");

    assertThatThrownBy(write::commit).hasMessageContaining("p=1 is a symbolic link");
    write.abort();

    assertThat(other.resolve("old")).exists();
    assertThat(directory.resolve("table/p=1")).isSymbolicLink();
  }

  @Test
  void whatDoesNotGoThereIsServed() throws IOException {
    job.runTasks(Map.of("p=2/b", "new b"));

    job.commitJob();

    assertThat(job.text("p=2/b")).isEqualTo("new b");
  }

  private org.apache.hadoop.fs.Path table() {
    return new org.apache.hadoop.fs.Path(directory.resolve("table").toUri());
  }

  private List<Path> content() throws IOException {
    try (Stream<Path> files = Files.list(other)) {
      return files.toList();
    }
  }
}
