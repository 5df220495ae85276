// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.SparkCalls;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Writers that do not heed the names that the protocol gives out. */
class ForeignNamesTest {
  private final Configuration conf = MemoryFileSystem.configuration();
  private MemoryStoreState state;
  private Path table;
  private SparkCalls calls;

  @AfterEach
  void stop() {
    calls.abort();
  }

  /**
   * Comet, from 0.13 to 1.0, takes the directory of the name that it is given and discards the
   * rest. It does not ask our protocol; this is what would come of it.
   */
  @ParameterizedTest
  @CsvSource({"abfs, false", "abfs, true", "hdfs, true", "gs, false", "gs, true"})
  void aNameThatIsDiscardedFailsTheJob(String scheme, boolean overwrites) throws IOException {
    begin(scheme, overwrites);
    Map<String, String> before = state.visible();
    SparkCalls.Attempt attempt = calls.attempt(0, 0);
    write(new Path(attempt.newFile("", ".parquet").getParent(), "part-00000-00000.parquet"));
    List<TaskCommitMessage> messages = List.of(attempt.commitApproved());

    assertThatThrownBy(() -> calls.commit(messages))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("1 files that committed tasks named are neither in the staging");
    calls.abort();

    assertThat(state.visible()).isEqualTo(before);
    assertThat(state.paths()).noneMatch(path -> path.contains("_manifest_"));
  }

  /** As of an engine that begins another file when one is large, and asks for one name. */
  @ParameterizedTest
  @CsvSource({"abfs, false", "abfs, true", "hdfs, true", "gs, false", "gs, true"})
  void aFileBesideTheOneThatWasNamedFailsTheJob(String scheme, boolean overwrites)
      throws IOException {
    begin(scheme, overwrites);
    Map<String, String> before = state.visible();
    SparkCalls.Attempt attempt = calls.attempt(0, 0);
    Path given = attempt.newFile("p=2", "-c000.parquet");
    write(given);
    write(more(given));
    List<TaskCommitMessage> all = List.of(attempt.commitApproved(), calls.task(1, "p=2"));

    assertThatThrownBy(() -> calls.commit(all))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContainingAll(
            "1 files of tasks have names", "-c000_1.parquet", "asks Spark for");
    calls.abort();

    assertThat(state.visible()).isEqualTo(before);
    assertThat(state.paths()).noneMatch(path -> path.contains("_manifest_"));
  }

  /** Gluten names its files by itself, so that nothing tells of which attempt they are. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs"})
  void aFileUnderANameOfAnotherFormFailsTheJob(String scheme) throws IOException {
    begin(scheme, true);
    Map<String, String> before = state.visible();
    SparkCalls.Attempt attempt = calls.attempt(0, 0);
    Path given = attempt.newFile("p=2", ".parquet");
    write(given);
    write(new Path(given.getParent(), "gluten-part-77aa6b1e.parquet"));
    List<TaskCommitMessage> all = List.of(attempt.commitApproved());

    assertThatThrownBy(() -> calls.commit(all))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContainingAll("1 files of tasks have names", "gluten-part-77aa6b1e.parquet");
    calls.abort();

    assertThat(state.visible()).isEqualTo(before);
    assertThat(state.paths()).noneMatch(path -> path.contains("_manifest_"));
  }

  /** It may be anywhere in its work. */
  @ParameterizedTest
  @ValueSource(strings = {"abfs", "gs"})
  void whatAKilledAttemptLeftIsNoneOfThese(String scheme) throws IOException {
    begin(scheme, false);
    SparkCalls.Attempt killed = calls.attempt(0, 0).write("p=2", "of the killed attempt");
    write(more(killed.newFile("p=2", ".parquet")));
    Path checksum = calls.attempt(0, 1).newFile("p=2", ".txt");
    write(new Path(checksum.getParent(), "." + checksum.getName() + ".crc"));

    calls.commit(List.of(calls.attempt(0, 1).write("p=2", "rows").commitApproved()));

    assertThat(state.visible().values()).containsExactlyInAnyOrder("old", "rows");
  }

  /** There it is the executor that sees what is on its disk. */
  @ParameterizedTest
  @ValueSource(strings = {"discarded", "beside"})
  void onS3TheTaskFails(String kind) throws IOException {
    begin("s3a", false);
    SparkCalls.Attempt attempt = calls.attempt(0, 0);
    Path given = attempt.newFile("p=2", ".parquet");
    if (kind.equals("beside")) {
      write(given);
    }
    write(more(given));

    assertThatThrownBy(attempt::commitApproved)
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("1 files of tasks have names", more(given).getName());
    attempt.abort();
    calls.abort();

    assertThat(given.getFileSystem(conf).exists(given.getParent())).isFalse();
    assertThat(state.uploads()).isEmpty();
    assertThat(state.visible().values()).containsExactly("old");
  }

  /**
   * A file that a writer puts into the table itself is anybody's: nothing tells whose. An append
   * leaves it, and so does a job that fails. An overwrite takes it for old data.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFileInTheTableIsNotSeen(boolean overwrites) throws IOException {
    begin("abfs", overwrites);
    TaskCommitMessage message = calls.task(0, "p=2");
    write(new Path(table, "p=2/part-00000-of-the-engine.parquet"));

    calls.commit(List.of(message));

    if (overwrites) {
      assertThat(state.visible().values()).containsExactly("p=2 of 0");
    } else {
      assertThat(state.visible().values()).containsExactlyInAnyOrder("old", "p=2 of 0", "direct");
    }
  }

  private void begin(String scheme, boolean overwrites) throws IOException {
    state = MemoryFileSystem.state("names");
    state.clear();
    state.write("/table/p=1/old.txt", "old");
    table = new Path(scheme + "://names/table");
    calls = SparkCalls.of(conf, table, "job-1", false);
    calls.replace(overwrites ? new Path[] {table} : new Path[0]).setUp();
  }

  private static Path more(Path named) {
    return new Path(named.getParent(), named.getName().replaceFirst("(?=\\.\\w+$)", "_1"));
  }

  private void write(Path file) throws IOException {
    TableFiles.write(file.getFileSystem(conf), file, "direct");
  }
}
