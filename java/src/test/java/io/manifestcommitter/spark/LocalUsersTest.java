// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.OtherUser;
import io.manifestcommitter.testing.SparkWrite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A table of root's on a local disk, to which another user appends. */
class LocalUsersTest {
  @TempDir private static Path classes;
  private static OtherUser user;

  @TempDir private Path directory;
  private Path table;

  @BeforeAll
  static void makeUser() throws IOException {
    assumeThat(OtherUser.isAvailable()).as("another user can be had").isTrue();
    user = new OtherUser(classes);
  }

  @BeforeEach
  void makeTable() throws IOException {
    user.letEnter(directory);
    table = Files.createDirectory(directory.resolve("table"));
    Files.writeString(Files.createDirectory(table.resolve("p=1")).resolve("old"), "old");
    setMode(table.resolve("p=1"), 0777);
  }

  /** Its rename would be refused, after all tasks have run. */
  @Test
  void aReportThatMayNotBeMovedAsideIsRefusedInSetup() throws Exception {
    setMode(table, 01777);
    Files.writeString(table.resolve("_SUCCESS"), "theirs");
    List<String> before = names();

    assertThat(append(true))
        .contains("in setup: ")
        .contains(table + " belongs to root:")
        .contains("with rwxrwxrwx, and " + OtherUser.NAME + " may only delete their own files")
        .contains("_SUCCESS belongs to root")
        .contains(CommitterConfig.MARK_SUCCESSFUL_JOBS + "=false")
        .endsWith("exit code 1");
    assertThat(names()).isEqualTo(before);

    assertThat(append(false)).endsWith("exit code 0");
    assertThat(Files.readString(table.resolve("_SUCCESS"))).isEqualTo("theirs");
    assertThat(names()).hasSize(before.size() + 1);
  }

  @Test
  void aTableThatMayNotBeWrittenIsNamedWithItsOwnerAndMode() throws Exception {
    setMode(table, 0755);
    assertThat(append(true))
        .contains("in setup: ")
        .contains(table + " belongs to root:")
        .contains("with rwxr-xr-x, and " + OtherUser.NAME + " may not write there")
        .endsWith("exit code 1");
    assertThat(names()).containsExactly("p=1", "p=1/old");
  }

  @Test
  void aPartitionThatMayNotBeWrittenIsNamedWithItsOwnerAndMode() throws Exception {
    setMode(table, 0777);
    setMode(table.resolve("p=1"), 0755);
    assertThat(append(true))
        .contains("in commit: ")
        .contains(table.resolve("p=1") + " belongs to root:")
        .contains("with rwxr-xr-x, and " + OtherUser.NAME + " may not write there")
        .endsWith("exit code 1");
    assertThat(names()).containsExactly("p=1", "p=1/old");
  }

  private String append(boolean marksSuccess) throws IOException, InterruptedException {
    return user.run(Append.class, "file:" + table, String.valueOf(marksSuccess));
  }

  private static void setMode(Path path, int mode) throws IOException {
    Files.setAttribute(path, "unix:mode", mode);
  }

  private List<String> names() throws IOException {
    try (Stream<Path> all = Files.walk(table)) {
      return all.filter(path -> !path.equals(table) && !path.toString().endsWith(".crc"))
          .map(path -> table.relativize(path).toString())
          .sorted()
          .toList();
    }
  }

  /** What the other user runs. */
  static final class Append {
    private Append() {}

    /** Appends a file to a table, and aborts if that fails. */
    public static void main(String[] args) {
      Configuration conf = new Configuration();
      conf.setBoolean(CommitterConfig.MARK_SUCCESSFUL_JOBS, Boolean.parseBoolean(args[1]));
      String step = "in setup: ";
      try {
        SparkWrite write = SparkWrite.append(conf, new org.apache.hadoop.fs.Path(args[0]));
        step = "in commit: ";
        write.task(0, "p=1");
        try {
          write.commit();
        } catch (Exception e) {
          write.abort();
          throw e;
        }
      } catch (Exception e) {
        System.out.println(step + Failures.trace(e));
        System.exit(1);
      }
      System.exit(0);
    }
  }
}
