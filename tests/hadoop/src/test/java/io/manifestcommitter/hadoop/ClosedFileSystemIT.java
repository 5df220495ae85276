// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.testing.SparkWrite;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Somebody in the driver's process closes the shared filesystem of HDFS between the setup of a job
 * and its commit, or its abort.
 */
class ClosedFileSystemIT extends OnHdfs {
  @ParameterizedTest
  @CsvSource({"append,auto", "append,off", "dynamic,auto", "dynamic,off"})
  void theJobGoesOn(String kind, String directoryRename) throws Exception {
    alone(() -> goesOn(kind, directoryRename));
  }

  private void goesOn(String kind, String directoryRename) throws IOException {
    Configuration conf = hdfs.conf();
    conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    Path table = hdfs.newTable("closed-" + kind + directoryRename);
    hdfs.write(new Path(table, "p=1/old"), "old");
    SparkWrite write =
        kind.equals("append")
            ? SparkWrite.append(conf, table)
            : SparkWrite.dynamicOverwrite(conf, table);
    write.task(0, "p=1", "p=3");

    close(conf, table);
    write.commit();

    Map<String, String> expected = new TreeMap<>();
    if (kind.equals("append")) {
      expected.put("p=1/old", "old");
    }
    assertThat(hdfs.visibleFiles(table)).containsAllEntriesOf(expected);
    assertThat(hdfs.visibleFiles(table).values())
        .contains(write.content("p=1"), write.content("p=3"))
        .hasSize(expected.size() + 2);
    assertThat(fs(conf, table).exists(write.staging())).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"auto", "off"})
  void theJobLeavesNothing(String directoryRename) throws Exception {
    alone(() -> leavesNothing(directoryRename));
  }

  private void leavesNothing(String directoryRename) throws IOException {
    Configuration conf = hdfs.conf();
    conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    Path table = hdfs.newTable("closed-abort" + directoryRename);
    hdfs.write(new Path(table, "p=1/old"), "old");
    SparkWrite write = SparkWrite.append(conf, table).task(0, "p=1");

    close(conf, table);
    write.abort();

    assertThat(fs(conf, table).exists(write.staging())).isFalse();
    assertThat(hdfs.visibleFiles(table)).containsOnlyKeys("p=1/old");
  }

  /** With a shared filesystem that no other test has: as the same user, signed in once more. */
  private static void alone(Trial trial) throws IOException, InterruptedException {
    UserGroupInformation.createRemoteUser(UserGroupInformation.getCurrentUser().getUserName())
        .doAs(
            (PrivilegedExceptionAction<Void>)
                () -> {
                  trial.run();
                  return null;
                });
  }

  private static FileSystem fs(Configuration conf, Path table) throws IOException {
    return table.getFileSystem(conf);
  }

  private static void close(Configuration conf, Path table) throws IOException {
    FileSystem shared = fs(conf, table);
    assertThat(fs(conf, table)).as("as all in this process have it").isSameAs(shared);
    shared.close();
  }

  /** One that closes the filesystem. */
  private interface Trial {
    void run() throws IOException;
  }
}
