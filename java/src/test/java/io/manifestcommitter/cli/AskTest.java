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

/** What the command line of the Python package asks; {@code test_cli.py} has what it prints. */
class AskTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  @TempDir private Path local;

  @Test
  void filesAreListedWithTheirSizesAndPlaces() throws IOException {
    Path directory = local.resolve("t/p=x%2Fy%/q=__HIVE_DEFAULT_PARTITION__");
    Files.createDirectories(directory);
    Files.writeString(directory.resolve("part-0"), "four");
    Files.writeString(local.resolve("t/a"), "");
    Files.writeString(directory.resolve("_hidden"), "");

    assertThat(run("--question", "files", local + "/t")).isZero();

    assertThat(text(out))
        .isEqualToNormalizingNewlines(
            "[{\"path\":\"file:"
                + local
                + "/t/a\",\"size\":0,\"place\":\"a\"},{\"path\":\"file:"
                + directory
                + "/part-0\",\"size\":4,\"place\":\""
                + "p=x%2Fy%/q=__HIVE_DEFAULT_PARTITION__/part-0\"}]\n");
  }

  @Test
  void aTableThatIsNotThereIsToldAsMissing() {
    for (String question : new String[] {"files", "ids", "held"}) {
      String given = "{\"commitId\":\"\",\"forget\":false,\"jobId\":\"\",\"end\":\"\"}";
      String[] arguments = {"--question", question, "--given", given, local + "/t", "--missing-ok"};
      assertThat(run(arguments)).isZero();
      arguments[5] = local + "/u";
      assertThat(run(arguments)).isEqualTo(Program.FAILED);
      assertThat(text(err)).contains("Ask: There is nothing at file:" + local + "/t");
      assertThatThrownBy(() -> Answers.value(new Configuration(), question, local + "/t", given))
          .isInstanceOf(NothingThereException.class);
    }
  }

  @Test
  void anEndSaysWhyItFailed() throws IOException {
    String given = "{\"jobId\":\"a-job\",\"end\":\"publish\"}";
    assertThat(
            run(
                "--question",
                "held",
                "--given",
                given,
                Files.createDirectory(local.resolve("t")).toString()))
        .isZero();
    assertThat(text(out)).startsWith("[{\"errors\":[\"").contains("a-job");
  }

  @Test
  void whatIsWrongIsTold() {
    assertThat(run("--question", "x", local.toString())).isEqualTo(Program.FAILED);
    assertThat(text(err)).contains("x is not known here");
    assertThat(run("--question", "held", "-D", "mapreduce.manifest.committer.publish=x", "/t"))
        .isEqualTo(2);
  }

  private int run(String... args) {
    return new Ask(
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8))
        .run(args);
  }

  private static String text(ByteArrayOutputStream bytes) {
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
