// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.DirectFiles.LocalFiles;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.SparkWrite;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names as long as local disks and HDFS take: 255 bytes. */
class LongNamesTest {
  private static final String TABLE = longest("t", "");
  private static final String PARTITION = longest("p=", "");
  private static final String FILE = longest("part-", ".csv.gz");

  @TempDir private java.nio.file.Path directory;

  @ParameterizedTest
  @CsvSource({
    "file,append", "file,static", "file,dynamic",
    "hdfs,append", "hdfs,static", "hdfs,dynamic",
    "abfs,append", "abfs,static", "abfs,dynamic",
    "gs,append", "gs,static", "gs,dynamic"
  })
  void tablesAndPartitionsAreWritten(String store, String kind) throws IOException {
    for (String directoryRename : List.of("auto", "off")) {
      Configuration conf = configuration(store);
      conf.set("mapreduce.manifest.committer.directory.rename", directoryRename);
      Path table = new Path(root(store), TABLE);
      write(conf, table, "append");

      SparkWrite second = write(conf, table, kind);

      Map<String, String> files = files(store);
      files.keySet().removeIf(path -> path.contains("_SUCCESS"));
      assertThat(files).hasSize(kind.equals("append") ? 2 : 1);
      second.staged().keySet().forEach(path -> assertThat(files).containsKey(inStore(store, path)));
    }
  }

  private static SparkWrite write(Configuration conf, Path table, String kind) throws IOException {
    SparkWrite write = SparkWrite.begin(conf, table, kind).task(0, PARTITION);
    write.commit();
    return write;
  }

  @ParameterizedTest
  @CsvSource({
    "hdfs,append", "hdfs,static", "hdfs,dynamic",
    "abfs,append", "abfs,static", "abfs,dynamic",
    "gs,append", "gs,static", "gs,dynamic",
    "s3a,append", "s3a,static", "s3a,dynamic"
  })
  void filesAreWrittenAndReplaced(String scheme, String kind) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme).byFile();
    spark.state.write("/table/p=1/old-" + FILE.substring(4), "old");
    spark.setUp(TableWrite.of(kind, "/table")).commitTask(0, "p=1/" + FILE);
    spark.commit();

    assertThat(spark.visible()).containsEntry("/table/p=1/" + FILE, "new p=1/" + FILE);
    assertThat(spark.visible()).hasSize(kind.equals("append") ? 2 : 1);
    assertThat(spark.staging()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"file", "hdfs", "abfs"})
  void aFileInATablesPlaceIsReplaced(String store) throws IOException {
    Configuration conf = configuration(store);
    Path table = new Path(root(store), FILE);
    put(store, FILE, "old");

    SparkWrite aborted = SparkWrite.begin(conf, table, "static").task(0, "p=1");
    aborted.abort();
    assertThat(files(store)).isEqualTo(Map.of(inStore(store, table), "old"));

    SparkWrite write = SparkWrite.begin(conf, table, "static").task(0, "p=1");
    write.commit();
    Map<String, String> files = files(store);
    files.keySet().removeIf(path -> path.contains("_SUCCESS"));
    assertThat(files).containsOnlyKeys(inStore(store, write.staged().firstKey()));
    assertThat(directories(store)).noneMatch(path -> path.contains(".manifest-file-"));
  }

  /** With characters of several bytes. */
  private static String longest(String begin, String end) {
    StringBuilder name = new StringBuilder(begin);
    int left = 255 - (begin + end).getBytes(StandardCharsets.UTF_8).length;
    while (left >= 4) {
      name.append("\ud83d\ude00");
      left -= 4;
    }
    return name.append("x".repeat(left)).append(end).toString();
  }

  /** Of an empty store. */
  private Configuration configuration(String store) {
    if (store.equals("file")) {
      FileUtil.fullyDeleteContents(directory.toFile());
      return new Configuration();
    }
    MemoryFileSystem.state("long-names-" + store).clear();
    return MemoryFileSystem.configuration(store);
  }

  private Path root(String store) {
    return store.equals("file")
        ? new Path("file:" + directory)
        : new Path(store + "://long-names-" + store + "/");
  }

  private void put(String store, String name, String content) throws IOException {
    if (store.equals("file")) {
      Files.writeString(directory.resolve(name), content);
    } else {
      MemoryFileSystem.state("long-names-" + store).write("/" + name, content);
    }
  }

  /** By path from the root of the store. */
  private Map<String, String> files(String store) throws IOException {
    return store.equals("file")
        ? new LocalFiles(directory.toFile()).files()
        : MemoryFileSystem.state("long-names-" + store).files();
  }

  private Collection<String> directories(String store) throws IOException {
    return store.equals("file")
        ? new LocalFiles(directory.toFile()).directories()
        : MemoryFileSystem.state("long-names-" + store).directories();
  }

  private String inStore(String store, Path path) {
    String whole = path.toUri().getPath();
    return store.equals("file") ? whole.substring(directory.toString().length() + 1) : whole;
  }
}
