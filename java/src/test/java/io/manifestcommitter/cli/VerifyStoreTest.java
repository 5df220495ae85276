// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VerifyStoreTest {
  private static final String DIRECTORY = "abfs://verified/scratch";
  private static final String NOT_CACHED = "fs.abfs.impl.disable.cache=true";
  private static final String CONF = "fs.abfs.impl=" + MemoryFileSystem.class.getName();

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final MemoryStoreState state = MemoryFileSystem.state("verified");

  @BeforeEach
  void empty() {
    state.clear();
  }

  @Test
  void eachAnswerIsPrintedAndNothingIsLeft() {
    assertThat(run("-D", CONF, DIRECTORY)).as(text(out)).isZero();

    assertThat(text(out).lines())
        .hasSize(14)
        .startsWith(DIRECTORY + ": 12 questions")
        .contains("  as needed      A file is never renamed onto another one")
        .endsWith("The store does what the committer relies on");
    assertThat(text(out)).doesNotContain("NOT", "file-onto-file");
    assertThat(text(err)).isEmpty();
    assertThat(state.paths()).containsExactly("/");
    out.reset();

    assertThat(run("--verbose", "-D", CONF, DIRECTORY)).isZero();

    assertThat(text(out))
        .startsWith(DIRECTORY + ": 12 questions, tried in manifest-committer-proofs-")
        .contains(", for a store with the traits ABFS")
        .contains("  as needed      A file is never renamed onto another one (file-onto-file)");
    assertThat(text(out).lines()).hasSize(26);
  }

  @Test
  void programsGetAnObjectALine() {
    assertThat(run("--json", "-D", CONF, DIRECTORY)).isZero();

    assertThat(text(out).lines())
        .hasSizeGreaterThan(10)
        .allSatisfy(line -> assertThat(line).startsWith("{\"directory\":\"" + DIRECTORY))
        .anySatisfy(line -> assertThat(line).contains("\"verdict\":\"HELD\""));
  }

  @Test
  void whatDoesNotHoldIsAFailure() {
    assertThat(run("-D", CONF, "-D", MemoryFileSystem.FLAT + "=true", DIRECTORY)).isEqualTo(1);

    assertThat(text(out).lines())
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith("  NOT as needed  The account has a hierarchical namespace: ")
                    .contains("has no hierarchical namespace"))
        .last()
        .asString()
        .startsWith("Do not commit to this store: ")
        .endsWith(" of 12 questions are not as needed, or got no answer");
  }

  @Test
  void aStoreThatNobodyKnowsIsAskedAsIfItWasVouchedFor() {
    String conf = "fs.mem.impl=" + MemoryFileSystem.class.getName();
    assertThat(run("--verbose", "-D", conf, "mem://verified/directory")).as(text(out)).isZero();

    assertThat(text(out))
        .contains("for a store with the traits VOUCHED")
        .contains("(file-rename)", "(directory-rename)")
        .doesNotContain("NOT as needed");
  }

  @Test
  void otherStoresAreRefused() {
    assertThat(run("file:/tmp")).isEqualTo(1);

    assertThat(text(err)).contains("file:/tmp", "abfs, abfss or gs");
  }

  @Test
  void withoutADirectoryTheUsageIsShown() {
    assertThat(run()).isEqualTo(2);
    assertThat(text(err)).contains("a path is missing", "Usage: VerifyStore");
    assertThat(run("--help")).isZero();
    assertThat(text(out)).contains("Usage: VerifyStore");
  }

  private int run(String... args) {
    String[] all =
        Stream.concat(Stream.of("-D", NOT_CACHED), Stream.of(args)).toArray(String[]::new);
    return new VerifyStore(
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8))
        .run(all);
  }

  private static String text(ByteArrayOutputStream stream) {
    return stream.toString(StandardCharsets.UTF_8);
  }
}
