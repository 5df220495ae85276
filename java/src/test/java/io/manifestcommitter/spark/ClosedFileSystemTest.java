// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A filesystem that all in a process share, and that one of them closes while a job commits: right
 * before a request, right after it, or in its middle, so that its answer is lost, though it may
 * have been done.
 */
class ClosedFileSystemTest {
  @ParameterizedTest
  @CsvSource({
    "abfs,append,auto",
    "abfs,dynamic,off",
    "hdfs,dynamic,auto",
    "gs,static,auto",
    "mem,append,auto"
  })
  void aJobCommitGoesOn(String scheme, String kind, String directoryRename) throws IOException {
    int closed = 0;
    for (Fate fate : new Fate[] {Fate.NORMAL, Fate.FAILS_BEFORE, Fate.FAILS_AFTER}) {
      boolean[] reached = {true};
      for (int at = 0; reached[0]; at++) {
        SparkJobHarness spark = new SparkJobHarness(scheme).sharing();
        SparkJobFaultTest.prepare(spark, kind, directoryRename);
        int closedAt = at;
        reached[0] = at == 0;
        if (at == 0) {
          close(spark);
        }
        spark.state.onRequest(
            (number, operation, path) -> {
              if (number != closedAt) {
                return Fate.NORMAL;
              }
              reached[0] = true;
              close(spark);
              return fate;
            });
        spark.commit();
        assertThat(spark.visible())
            .as("closed at request %d, %s", at, fate)
            .isEqualTo(SparkJobFaultTest.expected(kind));
        assertThat(spark.staging()).as("closed at request %d, %s", at, fate).isEmpty();
        closed++;
      }
    }
    System.out.printf(
        "%s %s, directory.rename %s: closed %d times%n", scheme, kind, directoryRename, closed);
    assertThat(closed).isGreaterThan(60);
  }

  private static void close(SparkJobHarness spark) {
    try {
      FileSystem shared = FileSystem.get(spark.table.toUri(), spark.conf);
      assertThat(shared).isInstanceOf(MemoryFileSystem.class);
      shared.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
