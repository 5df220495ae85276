// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.testing.DirectFiles.LocalFiles;
import io.manifestcommitter.testing.LocalGround;
import io.manifestcommitter.testing.SparkGround;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A job into a table on a local disk, for tests of the symbolic links that may be there. */
abstract class LocalTableTest {
  @TempDir Path directory;

  LocalGround store;
  Path table;
  DriverJob job;

  @BeforeEach
  final void openTable() throws IOException {
    store = new LocalGround(directory.toFile());
    job = new DriverJob(store, SparkJobHarness.JOB_ID);
    table = Files.createDirectories(directory.resolve("table"));
  }

  @AfterEach
  final void closeTable() throws IOException {
    store.noFault();
    job.abort();
    store.close();
  }

  final void setUp(String kind) throws IOException {
    job.setUp(TableWrite.of(kind, SparkGround.TABLE));
  }

  /** A task that commits files; returns the messages. */
  final List<Object> task(String... files) throws IOException {
    for (String file : files) {
      job.file(SparkGround.TABLE + "/" + file, "new");
    }
    return job.messages();
  }

  /** What a reader sees of the table. */
  Map<String, String> visible() throws IOException {
    Map<String, String> visible = new LocalFiles(table.toFile()).files();
    visible.keySet().removeIf(name -> name.startsWith("_"));
    return visible;
  }

  /** As Hadoop has it. */
  static org.apache.hadoop.fs.Path path(Path local) {
    return new org.apache.hadoop.fs.Path("file", null, local.toString());
  }

  static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  static void link(Path link, Path target) throws IOException {
    Files.createDirectories(link.getParent());
    Files.createSymbolicLink(link, target);
  }
}
