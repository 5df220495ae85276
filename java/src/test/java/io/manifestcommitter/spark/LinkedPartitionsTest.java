// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.testing.LocalFiles;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Partitions of a table on a local disk that are symbolic links. An overwrite replaces the link, as
 * Spark's own protocol does, and what it leads to stays as it was; a write that fails leaves the
 * link. An append goes through it.
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
    store.noFault();
    job.abort();
    assertThat(new LocalFiles(data.toFile()).files())
        .containsAllEntriesOf(Map.of("old", "behind", "q=1/old", "behind"));
    assertThat(data.resolve("q=2")).isDirectory();
  }

  /** Every way to replace the partition p=1, and every kind of link. */
  static Stream<Arguments> overwrites() {
    List<Arguments> all = new ArrayList<>();
    for (String rename : List.of("auto", "off")) {
      for (String kind : List.of("static", "partition", "dynamic", "conflict")) {
        for (String to : List.of("../data", "ABSOLUTE", "../data/old", "../nowhere")) {
          all.add(Arguments.of(rename, kind, to));
        }
      }
    }
    return all.stream();
  }

  @ParameterizedTest
  @MethodSource("overwrites")
  void anOverwriteReplacesTheLink(String rename, String kind, String to) throws IOException {
    link("p=1", to);
    setUp(rename, kind);
    job.commit(task("p=1/a", "p=1/b"));

    Map<String, String> expected = new TreeMap<>(Map.of("p=1/a", "new", "p=1/b", "new"));
    if (!kind.equals("static")) {
      expected.put("p=2/old", "old");
    }
    assertThat(visible()).isEqualTo(expected);
    assertThat(table.resolve("p=1")).isDirectory().satisfies(this::isNoLink);
    assertThat(staging()).isEmpty();
    assertThat(new LocalFiles(data.toFile()).files()).hasSize(2);
  }

  @ParameterizedTest
  @MethodSource("overwrites")
  void aFailedOverwriteLeavesTheLink(String rename, String kind, String to) throws IOException {
    Path target = link("p=1", to);
    setUp(rename, kind);
    List<Object> messages = task("p=1/a", "p=1/b");
    commitFails(messages);
    assertThat(Files.readSymbolicLink(table.resolve("p=1"))).isEqualTo(target);
    assertThat(visible()).isEqualTo(Map.of("p=2/old", "old"));
    job.abort();
    assertThat(staging()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void linksBelowWhatIsReplacedGoAsLinks(String rename) throws IOException {
    link("p=2/q=1", "../../data");
    link("p=2/q=3", "../../nowhere");
    link("p=2/file", "../../data/old");
    link("p=3", "../data");
    link("file", "../data/old");
    setUp(rename, "static");
    job.commit(task("p=2/q=1/a"));
    assertThat(visible()).isEqualTo(Map.of("p=2/q=1/a", "new"));
    assertThat(links()).isEmpty();
    assertThat(staging()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void linksBelowWhatWasToBeReplacedComeBack(String rename) throws IOException {
    link("p=2/q=1", "../../data");
    link("p=2/q=3", "../../nowhere");
    link("p=2/file", "../../data/old");
    link("p=3", "../data");
    link("file", "../data/old");
    NavigableMap<String, String> before = links();
    setUp(rename, "static");
    List<Object> messages = task("p=2/q=1/a");
    commitFails(messages);
    assertThat(links()).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void checksumsBesideLinksGoWithThem(String rename) throws IOException {
    List<Path> checksums = linksWithChecksums();
    setUp(rename, "static");
    job.commit(task("p=1/a"));
    assertThat(checksums).allSatisfy(checksum -> assertThat(checksum).doesNotExist());
    assertThat(staging()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void checksumsBesideLinksComeBackWithThem(String rename) throws IOException {
    List<Path> checksums = linksWithChecksums();
    setUp(rename, "static");
    List<Object> messages = task("p=1/a");
    commitFails(messages);
    assertThat(checksums).allSatisfy(checksum -> assertThat(checksum).hasContent("checksum"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void nothingIsWrittenInsteadOfALink(String rename) throws IOException {
    link("p=1", "../data");
    setUp(rename, "partition");
    job.commit(List.of());
    assertThat(visible()).isEqualTo(Map.of("p=2/old", "old"));
    assertThat(table.resolve("p=1")).doesNotExist().satisfies(this::isNoLink);
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void aPartitionOfALinkIsReplacedBehindIt(String rename) throws IOException {
    link("p=1", "../more");
    write(directory.resolve("more/q=1/old"), "old");
    write(directory.resolve("more/q=2/old"), "old");
    setUp(rename, "dynamic");
    job.commit(task("p=1/q=1/a"));
    assertThat(table.resolve("p=1")).isSymbolicLink();
    assertThat(new LocalFiles(directory.resolve("more").toFile()).files())
        .isEqualTo(Map.of("q=1/a", "new", "q=2/old", "old"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void anAppendGoesThroughTheLink(String rename) throws IOException {
    link("p=1", "../data");
    setUp(rename, "append");
    job.commit(task("p=1/a", "p=1/q=1/b"));
    assertThat(data.resolve("a")).hasContent("new");
    assertThat(data.resolve("q=1/b")).hasContent("new");
    assertThat(table.resolve("p=1")).isSymbolicLink();
  }

  @Test
  void anAppendThroughALinkToNothingIsRefused() throws IOException {
    link("p=1", "../nowhere");
    setUp("auto", "append");
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
    setUp(rename, "static");
    job.commit(task("p=1/a"));
    assertThat(table).isSymbolicLink();
    assertThat(new LocalFiles(real.toFile()).files()).containsKey("p=1/a").hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void aLocationThatIsALinkIsNotOverwritten(String rename) throws IOException {
    Path location = directory.resolve("location");
    Files.createSymbolicLink(location, data);
    job.with(CommitterConfig.DIRECTORY_RENAME, rename);
    assertThatThrownBy(() -> job.setUp(TableWrite.replacing("/location")))
        .hasMessageContaining(location + " is a symbolic link");
    assertThat(staging()).isEmpty();
    assertThat(location).isSymbolicLink();
    assertThat(data.resolve("_manifest_" + JOB_ID)).doesNotExist();
  }

  /** A location in the table, of which the setup of a static overwrite does not know. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void aLocationInTheTableThatIsALinkIsNotOverwritten(String rename) throws IOException {
    Path target = link("location", "../data");
    Path location = table.resolve("location");
    setUp(rename, "static");
    TaskMessage message = new TaskMessage(JOB_ID, 0, 0).add(path(location).toString(), "a");
    new LocationMarks(store.stores(store.configuration()), new StagingRoot(path(table), JOB_ID))
        .write(path(location));
    write(data.resolve("_manifest_" + JOB_ID + "/00/output/a"), "new");

    assertThatThrownBy(() -> job.commit(List.of(message.bytes())))
        .hasMessageContaining(location + " is a symbolic link");
    job.abort();

    assertThat(Files.readSymbolicLink(location)).isEqualTo(target);
    assertThat(visible()).isEqualTo(Map.of("p=2/old", "old"));
    assertThat(staging()).isEmpty();
    assertThat(data.resolve("_manifest_" + JOB_ID)).doesNotExist();
  }

  private void setUp(String rename, String kind) throws IOException {
    job.with(CommitterConfig.DIRECTORY_RENAME, rename);
    setUp(kind);
  }

  /** After all is published, right before the point of no return. */
  private void commitFails(List<Object> messages) {
    store.refuseRenamesTo("journal-committed");
    assertThatThrownBy(() -> job.commit(messages)).hasMessageContaining("before rename");
    store.noFault();
  }

  /** Without following a link. */
  @Override
  Map<String, String> visible() throws IOException {
    Map<String, String> visible = super.visible();
    visible.keySet().removeIf(name -> Files.isSymbolicLink(table.resolve(name)));
    return visible;
  }

  private NavigableMap<String, String> links() throws IOException {
    NavigableMap<String, String> links = new TreeMap<>();
    try (Stream<Path> walk = Files.walk(table)) {
      for (Path path : (Iterable<Path>) walk::iterator) {
        if (Files.isSymbolicLink(path)) {
          links.put(table.relativize(path).toString(), Files.readSymbolicLink(path).toString());
        }
      }
    }
    return links;
  }

  private List<StagingRoot> staging() throws IOException {
    assertThat(Recoveries.of(store.configuration(), true).find(path(table))).isEmpty();
    List<StagingRoot> left = new ArrayList<>();
    try (Stream<Path> children = Files.list(table)) {
      children
          .filter(child -> child.getFileName().toString().startsWith("_manifest_"))
          .forEach(child -> left.add(new StagingRoot(path(table), JOB_ID)));
    }
    return left;
  }

  private Path link(String name, String to) throws IOException {
    Path target = to.equals("ABSOLUTE") ? data : Paths.get(to);
    link(table.resolve(name), target);
    return target;
  }

  /** To a file and to nothing. Returns the checksum files beside them. */
  private List<Path> linksWithChecksums() throws IOException {
    link("file", "../data/old");
    link("gone", "../nowhere");
    List<Path> checksums = List.of(table.resolve(".file.crc"), table.resolve(".gone.crc"));
    for (Path checksum : checksums) {
      write(checksum, "checksum");
    }
    return checksums;
  }

  private void isNoLink(Path path) {
    assertThat(Files.isSymbolicLink(path)).as("%s is a link", path).isFalse();
  }
}
