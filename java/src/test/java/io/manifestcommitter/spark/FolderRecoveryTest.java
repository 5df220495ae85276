// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.store.FolderClock;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A bucket with hierarchical namespace whose renames of folders take longer than all that a
 * recovery asks for.
 */
class FolderRecoveryTest {
  private static final int LONGER = 80;

  @BeforeAll
  static void passWithoutPauses() {
    FolderClock.passWithoutPauses();
  }

  @ParameterizedTest
  @CsvSource({"static,/sealed/p=3", "static,/table/p=1", "dynamic,/sealed/p=3"})
  void theRenameOfADriverThatDiedIsAwaited(String kind, String renamed) throws IOException {
    SparkJobHarness spark = prepared(kind);
    spark.state.renameSlowly(LONGER);
    spark.dies(Fault.deadAfter("rename", path -> path.endsWith(renamed)));
    assertThat(spark.state.renames()).hasSize(1);

    List<String> meanwhile = new ArrayList<>();
    spark.state.before(
        "rename",
        path -> !path.contains("/journal-") && !spark.state.renames().isEmpty(),
        path -> meanwhile.add(path));

    assertThat(spark.recover(Direction.AS_MARKED, /* force= */ true))
        .containsExactly(Outcome.ROLLED_BACK);

    assertThat(meanwhile)
        .as("renames of folders above one that is being renamed, whose end is not defined")
        .isEmpty();
    spark.state.finishRenames();
    assertThat(spark.visible()).isEqualTo(SparkJobFaultTest.OLD);
    assertThat(spark.staging()).isEmpty();
  }

  private static SparkJobHarness prepared(String kind) throws IOException {
    return SparkJobFaultTest.prepared(MemoryFileSystem.GS_FOLDERS, kind, "auto");
  }
}
