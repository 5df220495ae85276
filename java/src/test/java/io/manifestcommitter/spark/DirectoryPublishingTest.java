// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static io.manifestcommitter.spark.SparkJobHarness.OUTPUT;
import static io.manifestcommitter.spark.SparkJobHarness.STAGING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Publishing and replacing of whole directories, and other jobs that get in between. */
class DirectoryPublishingTest {
  private final SparkJobHarness spark = new SparkJobHarness("abfs");

  private static Fate die(AtomicBoolean isDead) {
    isDead.set(true);
    return Fate.FAILS_BEFORE;
  }

  /** Between two looks, at what is there and at what is replaced. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs"})
  void aPartitionThatAppearsWhileTheJobLooksIsReplacedAndCanComeBack(String scheme)
      throws IOException {
    SparkJobHarness spark = new SparkJobHarness(scheme).setUp(TableWrite.dynamic());
    spark.commitTask(0, "p=9/q=1/a", "p=9/q=2/b");
    AtomicBoolean hasAppeared = new AtomicBoolean();
    AtomicBoolean isDead = new AtomicBoolean();
    assertThat(
            spark.dies(
                (number, operation, path) -> {
                  boolean isLook = operation.equals("list") && path.equals("/table/p=9/q=1");
                  if (isLook && !hasAppeared.getAndSet(true)) {
                    spark.state.write("/table/p=9/q=1/theirs", "theirs");
                  }
                  boolean isMark =
                      operation.equals("rename") && path.endsWith("/00/journal-planned-0");
                  return isMark || isDead.get() ? die(isDead) : Fate.NORMAL;
                }))
        .isTrue();
    assertThat(spark.visible())
        .isEqualTo(
            Map.of("/table/p=9/q=1/a", "new p=9/q=1/a", "/table/p=9/q=2/b", "new p=9/q=2/b"));

    spark.recoverAsMarked(/* force= */ true);
    assertThat(spark.visible()).isEqualTo(Map.of("/table/p=9/q=1/theirs", "theirs"));
  }

  @Test
  void newPartitionsTakeThreeRequestsADirectoryWhateverTheirFiles() throws IOException {
    spark.setUp(TableWrite.append());
    String[] files = new String[1000];
    for (int i = 0; i < files.length; i++) {
      files[i] = "a=" + i % 5 + "/b=" + i % 50 + "/f" + i;
    }
    spark.commitTask(0, files).commitTask(1, "root-1", "root-2", "root-3");
    spark.state.resetRequests();

    spark.commit();

    int directories = 1 + 5 + 50;
    assertThat(spark.visible()).hasSize(files.length + 3);
    assertThat(spark.state.requests()).hasSizeLessThanOrEqualTo(3 * directories + 3 + 40);
    assertThat(renames(OUTPUT.replace("/output/", "/sealed/a="))).hasSize(5);
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void existingPartitionsTakeOneRequestAFile() throws IOException {
    for (int i = 0; i < 50; i++) {
      spark.state.write("/table/p=" + i + "/old", "old");
    }
    spark.setUp(TableWrite.append());
    String[] files = new String[500];
    for (int i = 0; i < files.length; i++) {
      files[i] = "p=" + i % 50 + "/f" + i;
    }
    spark.commitTask(0, files);
    spark.state.resetRequests();

    spark.commit();

    assertThat(spark.visible()).hasSize(files.length + 50);
    assertThat(spark.state.requests()).hasSizeLessThanOrEqualTo(files.length + 3 * 51 + 40);
  }

  @Test
  void anOverwriteOfPartitionsTakesSixRequestsADirectory() throws IOException {
    String[] files = new String[500];
    for (int i = 0; i < 500; i++) {
      spark.state.write("/table/a=" + i % 2 + "/b=" + i % 50 + "/old" + i, "old");
      files[i] = "a=" + i % 2 + "/b=" + i % 50 + "/f" + i;
    }
    spark.old("/table/a=7/b=1/old").setUp(TableWrite.dynamic()).commitTask(0, files);
    spark.state.resetRequests();

    spark.commit();

    assertThat(spark.visible())
        .hasSize(501)
        .containsKey("/table/a=7/b=1/old")
        .doesNotContainKey("/table/a=0/b=0/old0");
    assertThat(spark.state.requests()).hasSizeLessThanOrEqualTo(6 * 53 + 40);
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void anOverwriteOfTheTableTakesOneRequestForEachOldEntryAndEachNewFileAtItsRoot()
      throws IOException {
    for (int i = 0; i < 100; i++) {
      spark.state.write("/table/old" + i, "old");
      spark.state.write("/table/p=" + i + "/old", "old");
    }
    spark.setUp(TableWrite.replacing("/table"));
    spark.commitTask(0, "p=1/a", "p=2/a", "p=200/a", "f1", "f2");
    spark.state.resetRequests();

    spark.commit();

    assertThat(spark.visible().keySet())
        .containsExactlyInAnyOrder(
            "/table/p=1/a", "/table/p=2/a", "/table/p=200/a", "/table/f1", "/table/f2");
    // 100 more: of each old directory its files are recorded, and looked at again.
    assertThat(spark.state.requests()).hasSizeLessThanOrEqualTo(6 * 4 + 2 + 200 + 2 * 98 + 40);
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void whatNobodyNamedIsGoneBeforeItsDirectoryIsPublished() throws IOException {
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/q=1/a");
    String stray = "part-00000-" + JOB_ID + "-9";
    spark.state.write(OUTPUT + "p=1/q=1/" + stray, "of a failed attempt");
    spark.state.write(OUTPUT + "p=1/" + stray, "of a failed attempt");
    spark.state.write(OUTPUT + "p=1/q=2/" + stray, "of a failed attempt");
    spark.state.mkdirs(OUTPUT + "p=1/q=3/empty");

    spark.commit();

    assertThat(spark.state.paths())
        .filteredOn(path -> path.startsWith("/table/p="))
        .containsExactlyInAnyOrder("/table/p=1", "/table/p=1/q=1", "/table/p=1/q=1/a");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aPartitionThatAnotherJobMakesInBetweenIsSharedWithIt(boolean overwrite) throws IOException {
    spark.setUp(overwrite ? TableWrite.dynamic() : TableWrite.append());
    spark.commitTask(0, "p=1/a", "p=1/q=2/b", "p=2/c");
    once("rename", STAGING + "/00/sealed/p=1", () -> spark.state.write("/table/p=1/x", "theirs"));

    spark.commit();

    assertThat(spark.visible())
        .isEqualTo(
            Map.of(
                "/table/p=1/a", "new p=1/a",
                "/table/p=1/q=2/b", "new p=1/q=2/b",
                "/table/p=1/x", "theirs",
                "/table/p=2/c", "new p=2/c"));
    assertThat(spark.state.paths()).doesNotContain("/table/p=1/p=1");
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void whatAnotherJobAppendsBeforeTheOldPartitionMovesGoesBack() throws IOException {
    spark.old("/table/p=1/old", "/table/p=1/rewritten");
    spark.setUp(TableWrite.dynamic()).commitTask(0, "p=1/a");
    once(
        "rename",
        "/table/p=1",
        () -> {
          spark.state.write("/table/p=1/appended", "theirs");
          spark.state.write("/table/p=1/q=1/r=2/appended", "theirs");
          spark.state.remove("/table/p=1/rewritten");
          spark.state.write("/table/p=1/rewritten", "theirs");
        });

    spark.commit();

    assertThat(spark.visible())
        .isEqualTo(
            Map.of(
                "/table/p=1/a", "new p=1/a",
                "/table/p=1/appended", "theirs",
                "/table/p=1/q=1/r=2/appended", "theirs",
                "/table/p=1/rewritten", "theirs"));
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void aFailedOverwriteLeavesWhatAnotherJobAppendedInBetween() throws IOException {
    spark.old("/table/p=1/old").setUp(TableWrite.dynamic()).commitTask(0, "p=1/a", "p=2/b");
    spark.state.onRequest(
        (number, operation, path) -> {
          if (operation.equals("write") && path.endsWith("_SUCCESS")) {
            spark.state.write("/table/p=1/appended", "theirs");
            spark.state.write("/table/p=2/appended", "theirs");
            return Fate.FAILS_BEFORE;
          }
          return Fate.NORMAL;
        });

    assertThatThrownBy(spark::commit).isInstanceOf(IOException.class);
    spark.job().abort();

    assertThat(spark.visible())
        .isEqualTo(
            Map.of(
                "/table/p=1/old", "old",
                "/table/p=1/appended", "theirs",
                "/table/p=2/appended", "theirs"));
    assertThat(spark.staging()).isEmpty();
  }

  /** Also if giving it back fails for a while: a second look must not take it for the job's own. */
  @Test
  void whatAnotherJobAddsToADirectoryThatIsRolledBackStays() throws IOException {
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/" + JOB_ID + "-a");
    boolean[] failing = {false};
    int[] refused = {0};
    spark.state.onRequest(
        (number, operation, path) -> {
          if (operation.equals("write") && path.endsWith("_SUCCESS")) {
            failing[0] = true;
            return Fate.FAILS_BEFORE;
          }
          if (failing[0] && operation.equals("rename") && path.equals("/table/p=1")) {
            spark.state.write("/table/p=1/theirs", "theirs");
          }
          return operation.equals("rename") && path.endsWith("/theirs") && ++refused[0] <= 3
              ? Fate.FAILS_BEFORE
              : Fate.NORMAL;
        });

    assertThatThrownBy(spark::commit).isInstanceOf(IOException.class);
    spark.job().abort();

    assertThat(refused[0]).isGreaterThan(3);
    assertThat(spark.visible()).isEqualTo(Map.of("/table/p=1/theirs", "theirs"));
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void anotherJobsStagingTreeBelowAReplacedPartitionStaysWhereItIs() throws IOException {
    spark.old("/table/p=1/old");
    spark.state.write("/table/p=1/_manifest_other/00/output/f", "theirs");
    spark.state.write("/table/p=2/q=1/_temporary/0/f", "theirs");
    spark.old("/table/p=2/q=1/old");
    spark.setUp(TableWrite.replacing("/table")).commitTask(0, "p=1/a", "p=3/c");

    spark.commit();

    assertThat(spark.visible().keySet()).containsExactly("/table/p=1/a", "/table/p=3/c");
    assertThat(spark.state.files())
        .containsEntry("/table/p=1/_manifest_other/00/output/f", "theirs")
        .containsEntry("/table/p=2/q=1/_temporary/0/f", "theirs");
    assertThat(renames("/table/p=1")).isEmpty();
    assertThat(renames("/table/p=2")).isEmpty();
  }

  @Test
  void aDirectoryThatTheStoreDoesNotMoveIsReplacedFileByFile() throws IOException {
    spark.old("/table/p=1/old").setUp(TableWrite.dynamic()).commitTask(0, "p=1/a", "p=2/b");
    spark.state.onRequest(Fault.on("rename", Fate.FAILS_BEFORE, path -> path.equals("/table/p=1")));

    spark.commit();

    assertThat(spark.visible())
        .isEqualTo(new TreeMap<>(Map.of("/table/p=1/a", "new p=1/a", "/table/p=2/b", "new p=2/b")));
    assertThat(spark.staging()).isEmpty();
  }

  @Test
  void filesThatVanishRightAfterTheyWerePublishedFailTheJob() throws IOException {
    spark.old("/table/p=1/old").setUp(TableWrite.dynamic()).commitTask(0, "p=1/a", "p=1/b");
    spark.state.before("list", 2, "/table/p=1"::equals, () -> spark.state.remove("/table/p=1/a"));

    assertThatThrownBy(spark::commit).hasMessageContainingAll("/table/p=1", "gone");
    spark.job().abort();

    assertThat(spark.visible()).isEqualTo(Map.of("/table/p=1/old", "old"));
  }

  @Test
  void aFileOfThisJobThatIsNotInItsPlanIsRemovedAndAnyOtherStays() throws IOException {
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a");
    String late = "/table/p=1/part-7-" + JOB_ID + "-9";
    once(
        "list",
        "/table/p=1",
        () -> {
          spark.state.write(late, "of an attempt that goes on writing");
          spark.state.write("/table/p=1/theirs", "theirs");
        });

    spark.commit();

    assertThat(spark.visible().keySet()).containsExactly("/table/p=1/a", "/table/p=1/theirs");
  }

  private List<String> renames(String path) {
    List<String> renames = new ArrayList<>(spark.state.requests());
    renames.removeIf(request -> !request.startsWith("rename " + path));
    return renames;
  }

  /** Does something just before the first such request takes effect. */
  private void once(String operation, String path, Runnable action) {
    spark.state.before(operation, 1, path::equals, action);
  }
}
