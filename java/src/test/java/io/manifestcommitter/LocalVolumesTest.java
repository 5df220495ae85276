// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.manifestcommitter.config.CommitterConfig;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
  void aFileGoesToTheOtherVolumeAsItIs() throws IOException {
    job.runTasks(Map.of("p=1/a", "new a", "p=2/b", "new b"));
    Path source = staged("p=1/a");
    long time = Files.getLastModifiedTime(source).toMillis();

    job.commitJob();

    assertThat(Files.readString(other.resolve("a"))).isEqualTo("new a");
    assertThat(Files.getLastModifiedTime(other.resolve("a")).toMillis()).isEqualTo(time);
    assertThat(source).doesNotExist();
    assertThat(names()).isSubsetOf("a", ".a.crc").contains("a");
  }

  @Test
  void whatACommitLeftAtBothEndsAndInBetweenIsRolledBack() throws IOException {
    Path source = commitThatFailsAfterTheLink();
    // As if it had died before it deleted the source, and in a copy before that.
    Files.copy(other.resolve("a"), source, StandardCopyOption.COPY_ATTRIBUTES);
    Files.writeString(other.resolve(".a.copied"), "new");

    job.abortJob();

    assertThat(names()).isEmpty();
    assertThat(job.text("p=2/b")).isEqualTo("in the way");
  }

  @Test
  void whatStoodThereBeforeIsNotTakenForACopy() throws IOException {
    Path source = commitThatFailsAfterTheLink();
    Files.move(other.resolve("a"), source);
    Files.writeString(other.resolve("a"), "old a");
    Files.setLastModifiedTime(other.resolve("a"), FileTime.fromMillis(1_000));

    job.abortJob();

    assertThat(Files.readString(other.resolve("a"))).isEqualTo("old a");
  }

  @Test
  void aCommitThatDiedBetweenTheEndsIsRepeated() throws IOException {
    Path source = commitThatFailsAfterTheLink();
    Files.copy(other.resolve("a"), source, StandardCopyOption.COPY_ATTRIBUTES);
    job.files.delete("p=2/b");

    job.commitJob();

    assertThat(Files.readString(other.resolve("a"))).isEqualTo("new a");
    assertThat(job.text("p=2/b")).isEqualTo("new b");
    assertThat(names()).isSubsetOf("a", ".a.crc");
  }

  /** Where the file of the linked partition was staged. */
  private Path commitThatFailsAfterTheLink() throws IOException {
    job.runTasks(Map.of("p=1/a", "new a"), Map.of("p=2/b", "new b"));
    Path source = staged("p=1/a");
    job.write("p=2/b", "in the way");
    assertThatThrownBy(job::commitJob).hasMessageContaining("p=2/b");
    assertThat(other.resolve("a")).exists();
    return source;
  }

  private Path staged(String file) throws IOException {
    return directory.resolve("table").resolve(job.workDirectory(0, 0)).resolve(file);
  }

  private List<String> names() throws IOException {
    return content().stream()
        .map(path -> path.getFileName().toString())
        .collect(Collectors.toList());
  }

  private List<Path> content() throws IOException {
    try (Stream<Path> files = Files.list(other)) {
      return files.collect(Collectors.toList());
    }
  }
}
