// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static io.manifestcommitter.spark.SparkJobHarness.STAGING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.StagedJobs;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.Rows;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Damage;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a job of the Spark protocol reads besides journals: messages, marks, and a table's names.
 */
class HostileMessagesTest {
  @Test
  void damagedMessagesAreRefused() {
    byte[] message =
        new TaskMessage(JOB_ID, 3)
            .add(TaskMessage.TABLE, "p=1/part-0")
            .add("abfs://c@a/location", "part-1")
            .bytes();
    for (long seed : Damage.seeds(300)) {
      byte[] damaged = Damage.of(message, seed);
      try {
        TaskOutput.parse(damaged, "the message");
        assertThat(damaged).isEqualTo(message);
      } catch (CorruptManifestException e) {
        assertThat(e).hasMessageContaining("the message").hasMessageContaining("Driver and exec");
      } catch (RuntimeException | Error e) {
        throw new AssertionError("-Dhostile.seed=" + seed, e);
      }
    }
  }

  /** As above, with a checksum that is right: the body itself is damaged. */
  @Test
  void bodiesThatNoTaskWroteAreRefused() {
    byte[] body = TaskOutputTest.oneFile("", "p=1", "part-0");
    Random random = new Random(1);
    for (long seed : Damage.seeds(300)) {
      byte[] damaged = Damage.of(body, seed);
      int claimed = random.nextInt(5) == 0 ? random.nextInt() : damaged.length;
      try {
        read(damaged, claimed);
      } catch (CorruptManifestException e) {
        assertThat(e).hasMessageContaining("the message");
      } catch (RuntimeException | Error e) {
        throw new AssertionError("-Dhostile.seed=" + seed, e);
      }
    }
  }

  @Test
  void aSmallMessageDoesNotClaimMuchMemory() {
    assertThatThrownBy(() -> read(new byte[10], 1 << 28))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContaining("it claims " + (1 << 28) + " bytes");

    // Each name is the one before, twice.
    String form = StagedFile.Form.TO_RENAME.name();
    Rows.Writer doubling = new Rows.Writer(0, 100).plain("j").number(3);
    for (int length = 1, name = 0; name < 30; name++) {
      doubling.number(0).number(0).plain("").number(0).number(0).plain("");
      doubling.number(name == 0 ? 0 : length).number(name == 0 ? 0 : length);
      doubling.plain(name == 0 ? "x" : "");
      doubling.number(name == 0 ? 0 : form.length()).number(0).plain(name == 0 ? form : "");
      length *= name == 0 ? 1 : 2;
    }
    byte[] body = doubling.take();
    assertThatThrownBy(() -> read(body, body.length))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContaining("characters");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mailto:x",
        "relative/path",
        "/no/scheme",
        "abfs://c@a/t/../victim",
        "abfs://c@a/./t",
        "abfs://c@a//t",
        "file:relative",
        ":",
        "http://[",
        " "
      })
  void aLocationThatIsNoneIsRefused(String location) {
    assertThatThrownBy(
            () -> {
              byte[] body = TaskOutputTest.oneFile(location, "", "part-0");
              read(body, body.length);
            })
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContainingAll("the message", "Driver and executors");
  }

  @Test
  void aMessageCannotLeadIntoAStagingDirectory() throws IOException {
    for (String directory : List.of("_manifest_other/00/old", "_temporary/0", "p=1/_manifest_x")) {
      SparkJobHarness spark = new SparkJobHarness("gs").setUp(TableWrite.append());
      spark.commitTask(0, directory + "/a");
      assertThatThrownBy(spark::commit).hasMessageContaining("in a staging directory");
      spark.job().abort();
      assertThat(spark.state.files()).isEmpty();
    }
  }

  @Test
  void marksThatNameNoLocationAreIgnored() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs");
    spark.state.write("/victim/_manifest_other/data", "theirs");
    spark.state.write("/victim-2/_manifest_" + JOB_ID + "/data", "theirs");
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a").commitTaskAt(1, "/elsewhere", "b");
    String marks = STAGING + "/00/locations/";
    List<String> contents =
        List.of("mailto:x", "", "x", "/victim", "../victim", "://", "a:b:c", spark.table + "/..");
    for (int i = 0; i < contents.size(); i++) {
      spark.state.write(marks + LocationMarks.key(contents.get(i)) + "-" + i, contents.get(i));
    }
    String tooLong = "x".repeat(1 << 17);
    spark.state.write(marks + LocationMarks.key(tooLong) + "-long", tooLong);
    // Under the name of another one, as one that was cut short.
    spark.state.write(
        marks + LocationMarks.key("other") + "-1", spark.path("/victim-2").toString());
    String above = spark.path("/").toString();
    spark.state.write(marks + LocationMarks.key(above) + "-above", above);
    spark.state.mkdirs(marks + "directory");
    byte[] mark = spark.path("/elsewhere").toString().getBytes(StandardCharsets.UTF_8);
    for (long seed : Damage.seeds(100)) {
      byte[] damaged = Damage.of(mark, seed);
      // Another store would have to be there for its staging directory to be deleted.
      if (!new String(damaged, StandardCharsets.ISO_8859_1)
          .matches("(?s)[A-Za-z][A-Za-z0-9+.-]*:/.*")) {
        String key = LocationMarks.key(new String(damaged, StandardCharsets.UTF_8));
        spark.state.write(marks + key + "-" + seed, damaged);
      }
    }
    spark.commit();
    assertThat(spark.visible()).containsOnlyKeys("/table/p=1/a", "/elsewhere/b");
    assertThat(spark.staging())
        .containsExactly(
            "/victim-2/_manifest_" + JOB_ID,
            "/victim-2/_manifest_" + JOB_ID + "/data",
            "/victim/_manifest_other",
            "/victim/_manifest_other/data");
  }

  @Test
  void directoriesThatOnlyLookLikeStagingAreLeftAlone() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs");
    List<String> names =
        List.of(
            "_manifest_", "_manifest_.", "_manifest_..", "_manifest_a:b", "_manifest_\n", "_x:y");
    for (String name : names) {
      spark.state.write("/table/" + name + "/00/journal-planned-0", "theirs");
      spark.state.write("/table/_temporary/" + name + "/data", "theirs");
    }
    spark.state.write("/table/_manifest_c=1/data", "a partition");
    spark.setUp(TableWrite.replacing("/table")).commitTask(0, "p=1/a");
    spark.commit();
    assertThat(spark.state.files())
        .doesNotContainKey("/table/_manifest_c=1/data")
        .containsKey("/table/p=1/a");
    assertThat(spark.state.files().values().stream().filter("theirs"::equals))
        .hasSize(2 * names.size() - 1);

    CommitterConfig config = new CommitterConfig(spark.conf);
    assertThat(spark.recovery(true).find(spark.table)).isEmpty();
    assertThat(new StagedJobs(new Stores(spark.conf).all(), config).find(spark.table, 0))
        .allMatch(job -> job.root.getParent().getName().equals("_temporary"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"_SUCCESS", "_SUCCESS.files"})
  void aDirectoryInPlaceOfTheReportIsToldBeforeTheJob(String name) throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs");
    spark.state.write("/table/" + name + "/data", "theirs");
    assertThatThrownBy(() -> spark.setUp(TableWrite.append()))
        .hasMessageContainingAll("/table/" + name + " is a directory", "move it away");
    assertThat(spark.state.files()).containsOnlyKeys("/table/" + name + "/data");

    // One that appears while an overwrite runs.
    SparkJobHarness later = new SparkJobHarness("abfs").old("/table/p=1/old");
    later.setUp(TableWrite.replacing("/table/p=1")).commitTask(0, "p=1/a");
    later.state.write("/table/" + name + "/data", "theirs");
    assertThatThrownBy(later::commit).hasMessageContaining("/table/" + name + " is a directory");
    later.job().abort();
    assertThat(later.state.files()).containsOnlyKeys("/table/" + name + "/data", "/table/p=1/old");
  }

  @Test
  void aReportThatIsTooLongIsOfNoJobAndGivesWay() throws IOException {
    SparkJobHarness spark = new SparkJobHarness("abfs");
    spark.state.write("/table/_SUCCESS", new byte[(64 << 20) + 1]);
    spark.setUp(TableWrite.append()).commitTask(0, "p=1/a");
    spark.commit();
    assertThat(spark.state.files().get("/table/_SUCCESS")).contains(JOB_ID);
  }

  /** A location that is overwritten and gets no file is the job's by its staging directory, too. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "gs"})
  void aLocationWithoutFilesIsRecovered(String scheme) throws IOException {
    Map<String, String> old = Map.of("/elsewhere/old", "old", "/table/p=1/old", "old");
    for (boolean finish : new boolean[] {false, true}) {
      SparkJobHarness spark = new SparkJobHarness(scheme);
      old.forEach(spark.state::write);
      spark.setUp(TableWrite.replacing("/table", "/elsewhere", "/nowhere")).commitTask(0, "p=2/a");
      assertThat(
              spark.dies(
                  (number, operation, path) ->
                      path.endsWith("journal-planned-0") ? Fate.FAILS_BEFORE : Fate.NORMAL))
          .isTrue();
      Direction to = finish ? Direction.COMPLETE : Direction.AS_MARKED;
      spark.recovery(true).run(spark.root(), to);
      assertThat(spark.visible()).isEqualTo(finish ? Map.of("/table/p=2/a", "new p=2/a") : old);
      assertThat(spark.staging()).isEmpty();
      assertThat(spark.state.exists("/nowhere")).isFalse();
    }
  }

  /** Reads a message of this body, with a checksum that is right. */
  private static void read(byte[] body, int claimedLength) throws CorruptManifestException {
    TaskOutput output = TaskOutput.parse(TaskOutputTest.packed(body, claimedLength), "the message");
    while (output.hasMore()) {
      output.next();
    }
  }
}
