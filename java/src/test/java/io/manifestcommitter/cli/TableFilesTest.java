// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TableFilesTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  @TempDir private Path local;

  @Test
  void filesAreListedWithTheirSizesAndPartitions() throws IOException {
    Path directory = local.resolve("t/p=x%2Fy%/q=__HIVE_DEFAULT_PARTITION__");
    Files.createDirectories(directory);
    Files.writeString(directory.resolve("part-0"), "four");
    Files.writeString(directory.resolve("_hidden"), "");
    String path = "file:" + directory + "/part-0";
    String table = local.resolve("t").toString();

    assertThat(run(table)).isZero();
    assertThat(run("--json", table)).isZero();

    assertThat(out.toString(StandardCharsets.UTF_8))
        .isEqualToNormalizingNewlines(
            "4  "
                + path
                + "\n{\"path\":\""
                + path
                + "\",\"size\":4,\"partition\":{\"p\":\"x/y%\",\"q\":null}}\n");
    assertThat(TableFiles.ofSession(new Configuration(), table)).startsWith("[{").endsWith("}]");
  }

  @Test
  void aTableThatIsNotThereIsToldAsMissing() {
    assertThat(run(local + "/t")).isEqualTo(Program.FAILED);
    assertThat(run("--missing-ok", local + "/t")).isZero();
    assertThatThrownBy(() -> TableFiles.ofSession(new Configuration(), local + "/t"))
        .isInstanceOf(NothingThereException.class);
  }

  private int run(String... args) {
    PrintStream err = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
    return new TableFiles(new PrintStream(out, true, StandardCharsets.UTF_8), err).run(args);
  }
}
