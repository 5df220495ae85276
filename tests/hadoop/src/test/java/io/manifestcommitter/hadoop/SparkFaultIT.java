// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.RequestFaults.Kind;
import io.manifestcommitter.testing.RequestFaults.Request;
import io.manifestcommitter.testing.SparkWrite.End;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Faults at the requests of job commits of the Spark protocol, on HDFS, where it is every third
 * one, and on the local filesystem. It goes wrong in the ways that there are, by turns: at odd
 * numbers once, at even ones with all that follow. The table is then the old one, or the new one,
 * or the error names the command that makes it one of them. On stores in memory every request goes
 * wrong in every way.
 */
@ExtendWith(HdfsExtension.class)
class SparkFaultIT {
  private final FileSystem hdfs;
  private int trials;

  SparkFaultIT(Hdfs hdfs) {
    this.hdfs = hdfs.fs();
  }

  @ParameterizedTest
  @CsvSource({
    "hdfs,append,off",
    "hdfs,dynamic,auto",
    "file,static,auto",
    "file,partition,off",
    "file,new,off"
  })
  void aFaultLeavesTheOldTableOrTheNewOneOrNamesTheRepair(
      String store, String kind, String directoryRename) throws IOException {
    List<Request> requests;
    try (SparkFaultTrial trial = trial(store, kind, directoryRename)) {
      requests = trial.clean();
    }
    assertThat(requests).hasSizeGreaterThan(20);
    Set<End> ends = EnumSet.noneOf(End.class);

    // A commit on HDFS takes a second.
    int step = store.equals("hdfs") ? 3 : 1;
    for (int number = 1; number <= requests.size(); number += step) {
      boolean stays = number % 2 == 0;
      Request request = requests.get(number - 1);
      List<Fate> fates = fates(request.kind(), stays);
      Fate fate = fates.get(number / 2 % fates.size());
      try (SparkFaultTrial trial = trial(store, kind, directoryRename)) {
        ends.add(stays ? trial.stays(number, fate) : trial.once(number, fate));
      } catch (AssertionError e) {
        throw new AssertionError(request.operation() + " " + number + ", " + fate, e);
      }
    }

    assertThat(ends).contains(End.COMMITTED, End.ROLLED_BACK);
  }

  private static List<Fate> fates(Kind kind, boolean stays) {
    if (stays) {
      return kind == Kind.READS ? kind.faults() : Kind.CHANGES.faults();
    }
    List<Fate> fates = new ArrayList<>(kind.faults());
    fates.addAll(kind.errors());
    return fates;
  }

  private SparkFaultTrial trial(String store, String kind, String directoryRename)
      throws IOException {
    String name = "spark-faults/" + ++trials;
    if (store.equals("hdfs")) {
      return new SparkFaultTrial(hdfs, new Path("/" + name), kind, directoryRename);
    }
    return new SparkFaultTrial(
        FileSystem.newInstanceLocal(new Configuration()),
        new Path(System.getProperty("test.build.data"), name),
        kind,
        directoryRename);
  }
}
