// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.FileIdentity.Upload;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileEntriesTest {
  private static final int MANY = 20_000;
  private static final FileIdentity UPLOADED =
      new FileIdentity(1, new Upload("id", List.of("0a")).toEtag("kept"), 0);

  @ParameterizedTest
  @ValueSource(ints = {0, 100_000, Integer.MAX_VALUE})
  void whatIsAddedIsReadBackInItsOrder(int inMemory) throws Exception {
    List<FileEntry> files = files(MANY);
    try (FileEntries entries = entries(inMemory, files)) {
      assertThat(entries).hasSize(MANY);
      assertThat(entries.bytes()).isEqualTo(files.stream().mapToLong(FileEntry::size).sum());
      assertThat(entries).containsExactlyElementsOf(files);
      assertThat(entries).as("a second time").containsExactlyElementsOf(files);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, Integer.MAX_VALUE})
  void namesThatBrokeOthersAreKept(int inMemory) throws Exception {
    List<FileEntry> files = new ArrayList<>();
    for (String name : Manifests.HOSTILE_NAMES) {
      Path source = new Path("abfs", "c@a.dfs.core.windows.net", "/t/_temporary/" + name);
      Path destination = new Path("/no/scheme/" + name);
      files.add(new FileEntry(source, destination, 1, name, 7));
      files.add(FileEntry.uploaded(destination.getParent(), destination.getName(), UPLOADED));
    }
    try (FileEntries entries = entries(inMemory, files)) {
      assertThat(entries).containsExactlyElementsOf(files);
    }
  }

  @Test
  void noFilesAreAListToo() throws Exception {
    try (FileEntries entries = entries(0, List.of())) {
      assertThat(entries.bytes()).isZero();
      assertThat(entries).isEmpty();
      assertThatThrownBy(() -> entries.iterator().next())
          .isInstanceOf(NoSuchElementException.class);
    }
  }

  @Test
  void thousandsOfFilesOfOneTableTakeLittleMemory() throws Exception {
    long before = spilled();
    try (FileEntries entries = entries(60 * MANY, files(MANY))) {
      assertThat(entries).hasSize(MANY);
      assertThat(spilled()).as("60 bytes a file are enough").isEqualTo(before);
    }
  }

  @Test
  void aClosedListCannotBeReadAndLeavesNoFile() throws Exception {
    long before = spilled();
    FileEntries entries = entries(0, files(MANY));
    assertThat(entries.iterator().next()).isEqualTo(file(0));
    entries.close();
    try (FileEntries.Builder unfinished = FileEntries.builder(0)) {
      for (FileEntry file : files(MANY)) {
        unfinished.add(file);
      }
    }

    assertThat(spilled()).isEqualTo(before);
    assertThatThrownBy(() -> entries.iterator().next())
        .isInstanceOf(UncheckedIOException.class)
        .hasRootCauseInstanceOf(ClosedChannelException.class)
        .hasMessageContaining("list of files cannot be read back");
  }

  @Test
  void manyMayReadAtOnce() throws Exception {
    List<FileEntry> files = files(MANY);
    try (FileEntries entries = entries(200_000, files)) {
      assertThat(IntStream.range(0, 4).parallel())
          .allSatisfy(reader -> assertThat(entries).containsExactlyElementsOf(files));
    }
  }

  private static FileEntries entries(int inMemory, List<FileEntry> files) throws IOException {
    try (FileEntries.Builder builder = FileEntries.builder(inMemory)) {
      for (FileEntry file : files) {
        builder.add(file);
      }
      return builder.build();
    }
  }

  private static List<FileEntry> files(int count) {
    return IntStream.range(0, count).mapToObj(i -> file(i)).toList();
  }

  private static FileEntry file(int i) {
    String name = "part-" + new UUID(7, i) + ".snappy.parquet";
    return new FileEntry(
        new Path("gs://bucket/table/_temporary/manifest_job/00/tasks/a" + i / 100 + "/p=1/" + name),
        new Path("gs://bucket/table/p=1/" + name),
        i * 1000L,
        "\"tag" + i + '"',
        1_700_000_000_000L + i);
  }

  /** By this process: others may run beside it. */
  private static long spilled() {
    String prefix = "manifest-committer-" + ProcessHandle.current().pid() + "-";
    String[] files =
        new File(System.getProperty("java.io.tmpdir"))
            .list((directory, name) -> name.startsWith(prefix));
    return files == null ? 0 : files.length;
  }
}
