// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.cli.Clean;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkCalls;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What {@code clean} does about uploads on S3 that only the plan of a dead job names. */
class AbortedUploadsTest {
  private static final String DEAD = "job-1";
  private static final String STAGING = "/table/_manifest_job-1";
  private static final String PLAN = STAGING + "/00/plan";
  private static final String BEGUN = STAGING + "/00/journal-planned-0";
  private static final String MARK = STAGING + "/00/journal-committed-0";

  private final MemoryStoreState state = MemoryFileSystem.state("dropped");
  private final Configuration conf = MemoryFileSystem.configuration();
  private final Path table = new Path("s3a://dropped/table");

  @BeforeEach
  void clear() {
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "1h");
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "5h");
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    state.clear();
    state.write("/table/p=1/old.txt", "old");
  }

  @Test
  void thoseThatThePlanNamesAreAbortedAndNoOthers() throws IOException {
    SparkCalls other = setUp("job-2");
    other.task(0, "p=7");
    SparkCalls dead = setUp(DEAD);
    dead.task(3, "p=8");
    dieAt(BEGUN, dead, List.of(dead.task(0, "p=1"), dead.task(1, "p=2")));
    assertThat(state.files()).containsKey(PLAN).doesNotContainKey(BEGUN);
    assertThat(partitions(state.uploads())).containsExactlyInAnyOrder("p=7", "p=8", "p=1", "p=2");
    passTime();

    String answer = clean();

    assertThat(answer)
        .contains("\"state\":\"abandoned\"", "\"removed\":true")
        .contains("\"abortedUploads\":2", "\"unknownUploads\":null");
    assertThat(partitions(state.uploads())).containsExactlyInAnyOrder("p=7", "p=8");
    assertThat(state.paths()).noneMatch(path -> path.startsWith(STAGING));
    assertThat(rows()).containsExactly("old");
  }

  @Test
  void thoseOfAJobThatShowsSignsOfLifeStay() throws IOException {
    SparkCalls dead = setUp(DEAD);
    dieAt(BEGUN, dead, List.of(dead.task(0, "p=1")));

    assertThat(clean()).contains("\"state\":\"running\"", "\"removed\":false");

    assertThat(partitions(state.uploads())).contains("p=1");
    assertThat(state.files()).containsKey(PLAN);
  }

  /** It showed none when it was listed. */
  @Test
  void thoseOfAJobThatShowsASignOfLifeAfterAllStay() throws IOException {
    SparkCalls dead = setUp(DEAD);
    dieAt(BEGUN, dead, List.of(dead.task(0, "p=1")));
    passTime();
    int[] looks = {0};
    state.onRequest(
        (number, operation, path) -> {
          if (path.equals(STAGING + "/heartbeat") && ++looks[0] == 4) {
            state.write(path, "alive");
          }
          return Fate.NORMAL;
        });

    assertThat(clean()).contains("\"removed\":false", "shows signs of life");

    assertThat(partitions(state.uploads())).contains("p=1");
    assertThat(state.files()).containsKey(PLAN);
  }

  @Test
  void aDriverThatWakesUpAfterwardsMakesNothingVisible() throws IOException {
    SparkCalls sleeper = setUp(DEAD);
    List<TaskCommitMessage> messages = List.of(sleeper.task(0, "p=1"), sleeper.task(1, "p=2"));
    String[] answer = {""};
    state.gate(
        (client, operation, path) -> {
          if (path.equals(BEGUN) && answer[0].isEmpty()) {
            // Its journal was on its way to the store when it fell asleep.
            answer[0] = "asked";
            passTime();
            answer[0] = cleanUnchecked();
          }
        });

    assertThatThrownBy(() -> sleeper.commit(messages)).isInstanceOf(IOException.class);

    assertThat(answer[0]).contains("\"abortedUploads\":2");
    assertThat(rows()).containsExactly("old");
    assertThat(partitions(state.uploads())).doesNotContain("p=1", "p=2");
  }

  @Test
  void aPlanThatWasCutShortLeavesThemAndSaysSo() throws IOException {
    SparkCalls dead = setUp(DEAD);
    dieAt(BEGUN, dead, List.of(dead.task(0, "p=1")));
    byte[] plan = state.bytes(PLAN);
    for (int length : new int[] {0, 1, plan.length / 2, plan.length - 1}) {
      state.write(PLAN, Arrays.copyOf(plan, length));
      state.write(STAGING + "/heartbeat", "alive");
      passTime();

      assertThat(clean())
          .as("of %s bytes", length)
          .contains("\"removed\":true", "\"abortedUploads\":0", "\"error\":null")
          .containsPattern("\"unknownUploads\":\"[^\"]*" + PLAN + " cannot be used");
      assertThat(state.paths()).noneMatch(path -> path.startsWith(STAGING));
      assertThat(partitions(state.uploads())).contains("p=1");
    }
  }

  @Test
  void whereOneCannotBeAbortedAllStaysToBeCleanedAgain() throws IOException {
    SparkCalls dead = setUp(DEAD);
    dieAt(BEGUN, dead, List.of(dead.task(0, "p=1"), dead.task(1, "p=2")));
    passTime();
    state.onRequest(Fault.on("abort", Fate.FAILS_BEFORE, path -> path.contains("/p=2/")));

    assertThat(clean()).contains("\"removed\":false").doesNotContain("\"error\":null");

    assertThat(state.files()).containsKey(PLAN);
    assertThat(partitions(state.uploads())).contains("p=2");
    state.noFault();
    assertThat(clean()).contains("\"removed\":true", "\"abortedUploads\":2");
    assertThat(partitions(state.uploads())).doesNotContain("p=1", "p=2");
  }

  @Test
  void thoseOfAnUnfinishedCommitGoOnlyIfItIsGivenUp() throws IOException {
    SparkCalls dead = setUp(DEAD);
    dieAt("/p=", dead, List.of(dead.task(0, "p=1"), dead.task(1, "p=2")));
    assertThat(state.files()).containsKey(BEGUN);
    passTime();

    assertThat(clean()).contains("\"state\":\"unfinished\"", "\"removed\":false");
    assertThat(partitions(state.uploads())).contains("p=1", "p=2");

    assertThat(discard()).contains("\"removed\":true", "\"abortedUploads\":2");
    assertThat(state.uploads()).as("also that of its point of no return").isEmpty();
    assertThat(rows()).containsExactly("old");
  }

  @Test
  void aCommitPastItsPointOfNoReturnHasNoneThatWait() throws IOException {
    SparkCalls dead = setUp(DEAD, table);
    List<TaskCommitMessage> messages = List.of(dead.task(0, "p=1"));
    state.onRequest(Fault.deadAfter("complete", path -> path.equals(MARK)));
    assertThat(Failures.of(() -> dead.commit(messages))).isNotEmpty();
    state.noFault();
    passTime();
    state.resetRequests();

    assertThat(discard()).contains("\"removed\":true", "\"abortedUploads\":0");

    assertThat(state.requestsByOperation()).doesNotContainKey("abort");
    assertThat(rows()).contains("p=1 of 0");
  }

  /** With --force: the user says that the job is dead, and is wrong. */
  @Test
  void aJobThatBeginsItsCommitMeanwhileKeepsThem() throws IOException {
    SparkCalls living = setUp(DEAD);
    dieAt("/p=", living, List.of(living.task(0, "p=1")));
    byte[] begun = state.bytes(BEGUN);
    state.remove(BEGUN);
    // After the look at what is in the table, before what is in there is removed.
    state.before("list", 2, path -> path.equals(STAGING + "/00"), () -> state.write(BEGUN, begun));

    assertThat(Clean.ofSession(conf, table.toString(), "0s", false, false, true))
        .contains("\"removed\":false", "has begun its commit since", "manifest-committer recover");

    assertThat(partitions(state.uploads())).contains("p=1");
    assertThat(state.files()).containsKeys(PLAN, BEGUN);
  }

  @Test
  void thoseAtALocationAreAbortedIfTheJobIsAtHomeThere() throws IOException {
    Path location = new Path("s3a://dropped/elsewhere/p=4");
    for (boolean isAtHome : new boolean[] {false, true}) {
      SparkCalls dead = setUp(DEAD);
      dieAt(BEGUN, dead, List.of(taskAt(dead, location)));
      if (!isAtHome) {
        state.remove("/elsewhere/p=4/_manifest_job-1");
      }
      passTime();

      String answer = clean();

      List<String> uploads = state.uploads();
      uploads.removeIf(path -> !path.startsWith("/elsewhere/"));
      if (isAtHome) {
        assertThat(answer).contains("\"abortedUploads\":1");
        assertThat(uploads).as("that of the first job stays").hasSize(1);
      } else {
        assertThat(answer)
            .contains("\"abortedUploads\":0")
            .containsPattern("\"unknownUploads\":\"[^\"]*names the location " + location);
        assertThat(uploads).hasSize(1);
      }
    }
  }

  /** There, the plan is in the file that becomes the journal. */
  @Test
  void aTableOnAnotherStoreMayHaveALocationOnS3() throws IOException {
    Path other = new Path("hdfs://dropped-nodes/table");
    MemoryStoreState nodes = MemoryFileSystem.state("dropped-nodes");
    nodes.clear();
    nodes.mkdirs("/table");
    SparkCalls dead = SparkCalls.of(conf, other, DEAD, false).setUp();
    List<TaskCommitMessage> messages =
        List.of(taskAt(dead, new Path("s3a://dropped/elsewhere/p=4")));
    nodes.onRequest(Fault.on("rename", Fate.FAILS_BEFORE, path -> path.endsWith("/journal.tmp")));
    // A driver that cannot begin aborts what it knows of; one that dies does not.
    state.onRequest(Fault.on("abort", Fate.FAILS_BEFORE, path -> true));
    assertThat(Failures.of(() -> dead.commit(messages))).isNotEmpty();
    nodes.noFault();
    state.noFault();
    assertThat(nodes.files()).containsKey(STAGING + "/00/journal.tmp");
    assertThat(partitions(state.uploads())).hasSize(1);
    nodes.passTime(6L * 60 * 60 * 1000);

    assertThat(clean(other, /* discards= */ false))
        .contains("\"removed\":true", "\"abortedUploads\":1", "\"unknownUploads\":null");

    assertThat(state.uploads()).isEmpty();
    assertThat(nodes.paths()).noneMatch(path -> path.startsWith(STAGING));
  }

  private SparkCalls setUp(String job, Path... replaced) throws IOException {
    return SparkCalls.of(conf, table, job, false).replace(replaced).setUp();
  }

  /** Its driver dies right before the first request for such a path, other than of a task. */
  private void dieAt(String path, SparkCalls calls, List<TaskCommitMessage> messages) {
    boolean[] isDead = {false};
    state.onRequest(
        (number, operation, at) -> {
          boolean isThere = at.equals(path) || (path.endsWith("=") && at.contains(path));
          isDead[0] |= isThere && (operation.equals("write") || operation.equals("complete"));
          return isDead[0] ? Fate.FAILS_BEFORE : Fate.NORMAL;
        });
    assertThat(Failures.of(() -> calls.commit(messages))).isNotEmpty();
    assertThat(isDead[0]).isTrue();
    state.noFault();
  }

  private void passTime() {
    state.passTime(6L * 60 * 60 * 1000);
  }

  private String clean() throws IOException {
    return clean(table, /* discards= */ false);
  }

  private String discard() throws IOException {
    return clean(table, /* discards= */ true);
  }

  private String clean(Path path, boolean discards) throws IOException {
    Configuration brief = Recoveries.watchingBriefly(conf);
    return Clean.ofSession(brief, path.toString(), "0s", false, discards, false);
  }

  private String cleanUnchecked() {
    try {
      return clean();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private TaskCommitMessage taskAt(SparkCalls calls, Path location) throws IOException {
    SparkCalls.Attempt attempt = calls.attempt(0, 0);
    Path file = attempt.newFileAt(location, ".txt");
    TableFiles.write(file.getFileSystem(conf), file, "elsewhere");
    return attempt.commitApproved();
  }

  /** Of the uploads of tasks. */
  private static List<String> partitions(List<String> uploads) {
    return uploads.stream()
        .filter(path -> path.contains("/p="))
        .map(path -> path.split("/", -1)[2])
        .toList();
  }

  private Collection<String> rows() {
    return state.visible().values();
  }
}
