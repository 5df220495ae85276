// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.Onto;
import io.manifestcommitter.testing.SparkWrite;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Another job makes a partition while a directory's rename to it is on its way. Whatever the store
 * answers, the files of both jobs are in the partition, and in no other directory.
 */
class PartitionRaceIT {
  @AfterEach
  void answerAsBefore() {
    EmulatedStore.abfs().faults().clear();
    EmulatedStore.abfs().onExistingDirectory(Onto.NESTS);
  }

  @ParameterizedTest
  @CsvSource({
    "NESTS,append,true",
    "NESTS,append,false",
    "NESTS,dynamic,true",
    "NESTS,dynamic,false",
    "CONFLICT,append,true",
    "CONFLICT,append,false",
    "CONFLICT,dynamic,true",
    "CONFLICT,dynamic,false",
    "REPLACES_IF_EMPTY,append,true",
    "REPLACES_IF_EMPTY,append,false",
    "REPLACES_IF_EMPTY,dynamic,true",
    "REPLACES_IF_EMPTY,dynamic,false"
  })
  void bothJobsFilesAreThere(Onto answer, String kind, boolean withFile) throws Exception {
    EmulatedStore store = EmulatedStore.ABFS;
    Configuration conf = store.conf();
    Path table = store.newRoot("race");
    FileSystem fs = table.getFileSystem(conf);
    fs.mkdirs(table);
    if (kind.equals("dynamic")) {
      fs.create(new Path(table, "p=1/old")).close();
    }
    EmulatedStore.abfs().onExistingDirectory(answer);
    FaultRule rename =
        EmulatedStore.abfs()
            .faults()
            .add(FaultRule.on("rename").path(table.toUri().getPath() + "/p=1$").hold());

    ExecutorService driver = Executors.newSingleThreadExecutor();
    try {
      Future<List<String>> job = driver.submit(() -> write(conf, table, kind));
      rename.awaitHeld();
      Set<String> expected = new TreeSet<>();
      fs.mkdirs(new Path(table, "p=1"));
      if (withFile) {
        fs.create(new Path(table, "p=1/other")).close();
        expected.add("/p=1/other");
      }
      rename.release();
      expected.addAll(job.get());
      assertThat(visible(table)).isEqualTo(expected);
    } finally {
      driver.shutdownNow();
    }
  }

  /** One job with two files in a partition; says where they belong. */
  private static List<String> write(Configuration conf, Path table, String kind)
      throws IOException {
    SparkWrite write = SparkWrite.begin(conf, table, kind).task(0, "p=1");
    write.task(1, "p=1");
    write.commit();
    return write.staged().keySet().stream().map(file -> "/p=1/" + file.getName()).toList();
  }

  /** The files that a reader sees, relative to the table. */
  private static Set<String> visible(Path table) {
    String prefix = table.toUri().getPath();
    Set<String> files = new TreeSet<>();
    EmulatedStore.abfs()
        .tree()
        .forEach(
            (path, size) -> {
              if (path.startsWith(prefix + "/") && !path.endsWith("/") && !path.contains("/_")) {
                files.add(path.substring(prefix.length()));
              }
            });
    return files;
  }
}
