// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens to partitions that a job writes to and that are there. */
class ConflictModeTest {
  @ParameterizedTest
  @CsvSource({"abfs,auto", "abfs,off", "gs,auto"})
  void failPublishesNothingAndNamesThePartitions(String scheme, String directoryRename)
      throws IOException {
    SparkJobHarness spark = job(scheme, directoryRename, "fail", TableWrite.append());
    spark.commitTask(0, "p=1/a", "p=2/b", "p=3/c");

    assertThatThrownBy(spark::commit)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContainingAll("/table/p=1", "/table/p=2", CommitterConfig.CONFLICT_MODE)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("p=3"));
    spark.job().abort();

    assertThat(spark.visible()).isEqualTo(OLD);
    assertThat(spark.staging()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"abfs,auto", "abfs,off", "gs,auto"})
  void replaceReplacesThePartitionsThatAreWrittenTo(String scheme, String directoryRename)
      throws IOException {
    SparkJobHarness spark = job(scheme, directoryRename, "replace", TableWrite.append());
    spark.commitTask(0, "p=1/a", "p=3/c");

    spark.commit();

    assertThat(spark.visible())
        .isEqualTo(
            Map.of(
                "/table/p=1/a", "new p=1/a", "/table/p=2/old", "old", "/table/p=3/c", "new p=3/c"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"append", "fail", "replace"})
  void newPartitionsAreNoConflict(String mode) throws IOException {
    SparkJobHarness spark = job("abfs", "auto", mode, TableWrite.append());
    spark.commitTask(0, "p=8/a");

    spark.commit();

    assertThat(spark.visible()).hasSize(3).containsKey("/table/p=8/a");
  }

  @ParameterizedTest
  @ValueSource(strings = {"append", "fail", "replace"})
  void whatIsOverwrittenAnywayIsNoConflict(String mode) throws IOException {
    SparkJobHarness spark = job("abfs", "auto", mode, TableWrite.replacing("/table/p=1"));
    spark.commitTask(0, "p=1/a");

    spark.commit();

    assertThat(spark.visible())
        .isEqualTo(Map.of("/table/p=1/a", "new p=1/a", "/table/p=2/old", "old"));
  }

  @ParameterizedTest
  @CsvSource({"fail,true", "fail,false", "replace,true", "replace,false", "append,true"})
  void aTableWithoutPartitionsIsOneOnceItHasAFile(String mode, boolean hasFile) throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs").with(CommitterConfig.CONFLICT_MODE, mode);
    if (hasFile) {
      spark.old("/table/old");
    }
    spark.setUp(TableWrite.append()).commitTask(0, "a");

    if (mode.equals("fail") && hasFile) {
      assertThatThrownBy(spark::commit).isInstanceOf(PlanRejectedException.class);
      assertThat(spark.visible().keySet()).containsExactly("/table/old");
      return;
    }
    spark.commit();

    if (mode.equals("append")) {
      assertThat(spark.visible().keySet()).containsExactly("/table/a", "/table/old");
    } else {
      assertThat(spark.visible().keySet()).containsExactly("/table/a");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"p=1", "_p=1"})
  void replaceOfATableWithPartitionsByFilesAtItsRootIsRefused(String partition) throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs");
    spark.with(CommitterConfig.CONFLICT_MODE, "replace");
    spark.state.write("/table/" + partition + "/old", "old");
    spark.old("/table/root").setUp(TableWrite.append()).commitTask(0, "a");

    assertThatThrownBy(spark::commit).hasMessageContainingAll(partition, "replace");
    assertThat(spark.visible()).hasSize(2).doesNotContainKey("/table/a");
  }

  private static final Map<String, String> OLD =
      Map.of("/table/p=1/old", "old", "/table/p=2/old", "old");

  private static SparkJobHarness job(
      String scheme, String directoryRename, String mode, TableWrite write) throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme);
    spark.with(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    spark.with(CommitterConfig.CONFLICT_MODE, mode);
    OLD.forEach(spark.state::write);
    spark.setUp(write);
    return spark;
  }
}
