// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a plan is read is tested end to end, by {@code test_native_engines.py}. */
class SparkCommandTest {
  private static final String SQL = "org.apache.spark.sql.execution.";
  private static final String INSERT = SQL + "command.DataWritingCommandExec";

  @ParameterizedTest
  @ValueSource(strings = {"VeloxColumnarWriteFilesExec", "CHColumnarWriteFilesExec"})
  void whereGlutenWritesTheJobIsRefused(String writer) {
    // Gluten keeps Spark's own node beside its own, so that Spark takes the plan for a write.
    SparkCommand command = command(INSERT, SQL + "datasources.WriteFilesExec", SQL + writer);

    assertThatThrownBy(() -> command.requireKnownWriter("file:/t"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(
            "file:/t",
            "Gluten",
            writer,
            "Nothing was changed",
            "Set spark.gluten.sql.native.writer.enabled to false");
  }

  /** Where an engine left the write to Spark, where its writer is new, and where nothing tells. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "datasources.WriteFilesExec org.apache.gluten.execution.ProjectExecTransformer",
        "datasources.WriteFilesExec org.apache.spark.sql.comet.CometProjectExec",
        "org.apache.spark.sql.comet.CometWriteFilesExec",
        "nobody.knows.VeloxColumnarWriteFilesExec",
        ""
      })
  void allOthersPass(String nodes) {
    SparkCommand command =
        command(nodes.replaceFirst("^datasources", SQL + "datasources").split(" "));

    assertThatCode(() -> command.requireKnownWriter("file:/t")).doesNotThrowAnyException();
  }

  private static SparkCommand command(String... nodes) {
    return new SparkCommand(true, Optional.empty(), Set.of(nodes));
  }
}
