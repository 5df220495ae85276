// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.hadoop.Hdfs.HdfsExtension;
import io.manifestcommitter.testing.SparkWrite;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A NameNode that is called by its host's name and by its address. */
@ExtendWith(HdfsExtension.class)
class TwoNamesIT {
  private final Hdfs hdfs;
  private final Configuration conf;

  TwoNamesIT(Hdfs hdfs) {
    this.hdfs = hdfs;
    this.conf = hdfs.conf();
  }

  @RepeatedTest(12)
  void ofTwoOverwritesAtOnceOneIsLast() throws Exception {
    Path table = hdfs.newTable("two-names");
    hdfs.write(new Path(table, "p=1/old"), "old");
    hdfs.write(new Path(table, "p=3/old"), "old");
    List<SparkWrite> writes = new ArrayList<>();
    for (Path name : List.of(byName(table), byAddress(table))) {
      SparkWrite write = SparkWrite.overwrite(conf, name, name).task(0, "p=1", "p=2");
      write.task(1, "p=1", "p=2");
      writes.add(write);
    }
    ExecutorService both = Executors.newFixedThreadPool(2);
    try {
      List<Future<?>> commits = new ArrayList<>();
      writes.forEach(write -> commits.add(both.submit(write::commit)));
      for (Future<?> commit : commits) {
        commit.get();
      }
    } finally {
      both.shutdownNow();
    }
    Set<String> files = hdfs.visibleFiles(table).keySet();
    assertThat(files).hasSize(4);
    assertThat(writes)
        .filteredOn(write -> files.stream().allMatch(file -> file.contains(write.id())))
        .hasSize(1);
  }

  /** As where the catalog has another name for a partition than for its table. */
  @Test
  void aPartitionByAnotherNameIsReplacedWhereItIs() throws Exception {
    Path table = hdfs.newTable("partition-by-another-name");
    hdfs.write(new Path(table, "p=1/old"), "old");
    hdfs.write(new Path(table, "p=2/old"), "old");
    Path partition = new Path(byAddress(table), "p=1");
    SparkWrite write = SparkWrite.overwrite(conf, byName(table), partition).taskAt(0, partition);
    write.commit();
    Map<String, String> files = hdfs.visibleFiles(table);
    assertThat(files).hasSize(2).containsEntry("p=2/old", "old").containsValue("new in p=1");
  }

  private Path byName(Path path) {
    return called("localhost", path);
  }

  private Path byAddress(Path path) {
    return called("127.0.0.1", path);
  }

  private Path called(String host, Path path) {
    URI uri = hdfs.fs().getUri();
    return new Path("hdfs", host + ":" + uri.getPort(), path.toUri().getPath());
  }
}
