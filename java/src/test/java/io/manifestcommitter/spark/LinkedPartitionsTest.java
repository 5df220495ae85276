// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.testing.DirectFiles.LocalFiles;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Symbolic links in a table on a local disk. An overwrite of a place where one is, or leads to, is
 * refused before it changes anything. An append goes through it.
 */
class LinkedPartitionsTest extends LocalTableTest {
  private Path data;

  @BeforeEach
  void data() throws IOException {
    data = directory.resolve("data");
    write(data.resolve("old"), "behind");
    write(data.resolve("q=1/old"), "behind");
    Files.createDirectories(data.resolve("q=2"));
    write(table.resolve("p=2/old"), "old");
  }

  @AfterEach
  void whatIsBehindStays() throws IOException {
    job.abort();
    assertThat(new LocalFiles(data.toFile()).files())
        .containsAllEntriesOf(Map.of("old", "behind", "q=1/old", "behind"));
    assertThat(data.resolve("q=2")).isDirectory();
  }

  /** Every way to replace the partition p=1, and every kind of link. */
  static Stream<Arguments> overwrites() {
    List<Arguments> all = new ArrayList<>();
    for (String kind : List.of("static", "partition", "dynamic", "conflict")) {
      for (String to : List.of("../data", "ABSOLUTE", "../data/old", "../nowhere")) {
        all.add(Arguments.of(kind, to));
      }
    }
    return all.stream();
  }

  @ParameterizedTest
  @MethodSource("overwrites")
  void anOverwriteOfALinkIsRefused(String kind, String to) throws IOException {
    Path target = to.equals("ABSOLUTE") ? data : Paths.get(to);
    link(table.resolve("p=1"), target);
    isRefused(kind, table.resolve("p=1"), "p=1/a", "p=1/b");
    assertThat(Files.readSymbolicLink(table.resolve("p=1"))).isEqualTo(target);
  }

  @ParameterizedTest
  @CsvSource({
    "p=2/q=1, ../../data",
    "p=2/q=3, ../../nowhere",
    "p=2/file, ../../data/old",
    "p=3, ../data",
    "file, ../data/old",
  })
  void aLinkBelowWhatIsReplacedIsRefused(String name, String to) throws IOException {
    link(table.resolve(name), Paths.get(to));
    isRefused("static", table.resolve(name), "p=1/a");
    assertThat(table.resolve(name)).isSymbolicLink();
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void aPartitionBehindALinkIsNotReplaced(String rename) throws IOException {
    link(table.resolve("p=1"), data);
    job.with(CommitterConfig.DIRECTORY_RENAME, rename);
    isRefused("dynamic", table.resolve("p=1"), "p=1/q=1/a");
  }

  private void isRefused(String kind, Path link, String... files) throws IOException {
    setUp(kind);
    List<Object> messages = task(files);
    assertThatThrownBy(() -> job.commit(messages))
        .satisfiesAnyOf(
            e -> assertThat(e).hasMessageContaining(link + " is a symbolic link, and is to be"),
            e -> assertThat(e).hasMessageContainingAll("Files stand where", link.toString()));
    job.abort();
    assertThat(visible()).containsEntry("p=2/old", "old").doesNotContainValue("new");
    assertThat(table.resolve("_manifest_" + JOB_ID)).doesNotExist();
  }

  @Test
  void aLinkBesideWhatIsReplacedStays() throws IOException {
    link(table.resolve("p=1"), data);
    setUp("dynamic");
    job.commit(task("p=2/a"));
    assertThat(table.resolve("p=1")).isSymbolicLink();
    assertThat(visible()).containsEntry("p=2/a", "new").doesNotContainKey("p=2/old");
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void anAppendGoesThroughTheLink(String rename) throws IOException {
    link(table.resolve("p=1"), data);
    job.with(CommitterConfig.DIRECTORY_RENAME, rename);
    setUp("append");
    job.commit(task("p=1/a", "p=1/q=1/b", "p=1/q=3/c"));
    assertThat(data.resolve("a")).hasContent("new");
    assertThat(data.resolve("q=1/b")).hasContent("new");
    assertThat(data.resolve("q=3/c")).hasContent("new");
    assertThat(table.resolve("p=1")).isSymbolicLink();
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void aFailedAppendThroughTheLinkIsRolledBack(String rename) throws IOException {
    link(table.resolve("p=1"), data);
    job.with(CommitterConfig.DIRECTORY_RENAME, rename);
    setUp("append");
    List<Object> messages = task("p=1/a", "p=1/q=1/b", "p=1/q=3/c");
    store.refuseRenamesTo("_SUCCESS");
    assertThatThrownBy(() -> job.commit(messages)).isInstanceOf(IOException.class);
    store.noFault();
    job.abort();
    assertThat(new LocalFiles(data.toFile()).files()).hasSize(2);
    assertThat(data.resolve("q=3")).doesNotExist();
    assertThat(table.resolve("p=1")).isSymbolicLink();
  }

  @Test
  void anAppendThroughALinkToNothingIsRefused() throws IOException {
    link(table.resolve("p=1"), Paths.get("../nowhere"));
    setUp("append");
    List<Object> messages = task("p=1/a");
    assertThatThrownBy(() -> job.commit(messages)).hasMessageContaining("p=1");
    assertThat(table.resolve("p=1")).isSymbolicLink();
  }

  /** Then the table is the user's own link, and what is replaced is its content. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void aTableThatIsALinkStaysOne(String rename) throws IOException {
    Path real = Files.move(table, directory.resolve("real"));
    Files.createSymbolicLink(table, real);
    job.with(CommitterConfig.DIRECTORY_RENAME, rename);
    setUp("static");
    job.commit(task("p=1/a"));
    assertThat(table).isSymbolicLink();
    assertThat(new LocalFiles(real.toFile()).files()).containsKey("p=1/a").hasSize(3);
  }

  @Test
  void aLocationThatIsALinkIsNotOverwritten() throws IOException {
    Path location = directory.resolve("location");
    Files.createSymbolicLink(location, data);
    assertThatThrownBy(() -> job.setUp(TableWrite.replacing("/location")))
        .hasMessageContaining(location + " is a symbolic link");
    assertThat(location).isSymbolicLink();
    assertThat(data.resolve("_manifest_" + JOB_ID)).doesNotExist();
    assertThat(table.resolve("_manifest_" + JOB_ID)).doesNotExist();
  }

  /** A location in the table, of which the setup of a static overwrite does not know. */
  @Test
  void aLocationInTheTableThatIsALinkIsNotOverwritten() throws IOException {
    Path location = table.resolve("location");
    link(location, data);
    setUp("static");
    TaskMessage message = new TaskMessage(JOB_ID, 0).add(path(location).toString(), "a");
    new LocationMarks(store.stores(store.configuration()), new StagingRoot(path(table), JOB_ID))
        .write(path(location));
    write(data.resolve("_manifest_" + JOB_ID + "/00/output/a"), "new");

    assertThatThrownBy(() -> job.commit(List.of(message.bytes())))
        .hasMessageContaining(location + " is a symbolic link");
    job.abort();

    assertThat(location).isSymbolicLink();
    assertThat(table.resolve("p=2/old")).exists();
    assertThat(data.resolve("_manifest_" + JOB_ID)).doesNotExist();
    assertThat(table.resolve("_manifest_" + JOB_ID)).doesNotExist();
  }
}
