// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.StagedJobs;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.testing.DirectFiles.LocalFiles;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Recoveries;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Symbolic links in the staging directory of a job on a local disk: wherever one is, the job
 * publishes what its tasks wrote, or fails, and what the link leads to is as it was. One to the
 * table is followed.
 */
class HostileLinksTest extends LocalTableTest {
  private Path victim;
  private Path root;

  @BeforeEach
  void victim() throws IOException {
    victim = directory.resolve("victim");
    write(victim.resolve("a"), "theirs");
    write(victim.resolve("p=1/a"), "theirs");
    write(victim.resolve("deep/er/f"), "theirs");
    root = table.resolve("_manifest_" + JOB_ID);
  }

  @AfterEach
  void theVictimIsUntouched() throws IOException {
    job.abort();
    assertThat(new LocalFiles(victim.toFile()).files())
        .isEqualTo(Map.of("a", "theirs", "p=1/a", "theirs", "deep/er/f", "theirs"));
    assertThat(new LocalFiles(victim.toFile()).directories())
        .containsExactly("deep", "deep/er", "p=1");
  }

  @ParameterizedTest
  @CsvSource({
    "auto, append, p=1/stray, victim",
    "auto, append, stray, victim",
    "auto, append, p=1/.hidden, victim/a",
    "auto, append, p=2/.stray.crc, victim",
    "off, append, p=1/stray, victim",
    "auto, overwrite, p=1/stray, victim",
    "off, overwrite, p=1/stray, missing",
    "auto, append, p=2/to-nothing, missing",
  })
  void aStrayLinkFailsTheJob(String directoryRename, String kind, String link, String target)
      throws IOException {
    job.with(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    write(table.resolve("p=1/old"), "old");
    setUp(kind.equals("overwrite") ? "static" : "append");
    List<Object> messages = task("p=1/a", "p=2/b");
    link(root.resolve("00/output").resolve(link), directory.resolve(target));

    assertThatThrownBy(() -> job.commit(messages)).hasMessageContaining(link);
    job.abort();

    assertThat(visible()).isEqualTo(Map.of("p=1/old", "old"));
    assertThat(root).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"00", "00/output", "00/output/p=1", "00/output/p=1/a", "00/old"})
  void aLinkInThePlaceOfTheJobsOwnFailsIt(String place) throws IOException {
    write(table.resolve("p=1/old"), "old");
    setUp("partition");
    List<Object> messages = task("p=1/a");
    Path replaced = root.resolve(place);
    Path target = place.endsWith("a") ? victim.resolve("a") : victim;
    if (Files.exists(replaced)) {
      Files.move(replaced, directory.resolve("moved-away"));
    }
    link(replaced, target);

    assertThatThrownBy(() -> job.commit(messages)).isInstanceOf(IOException.class);
    job.abort();
    assertThat(visible()).isEqualTo(Map.of("p=1/old", "old"));
  }

  @Test
  void aLinkInThePlaceOfTheReportFailsTheJobAndStays() throws IOException {
    write(table.resolve("p=1/old"), "old");
    link(table.resolve("_SUCCESS"), victim.resolve("a"));
    setUp("append");
    List<Object> messages = task("p=1/a");

    assertThatThrownBy(() -> job.commit(messages))
        .hasStackTraceContaining("_SUCCESS is a symbolic link, which a job does not move");
    job.abort();

    assertThat(table.resolve("_SUCCESS")).isSymbolicLink();
    assertThat(table.resolve("p=1/a")).doesNotExist();
    assertThat(root).doesNotExist();
  }

  @Test
  void anAbortTakesOnlyTheLinksAway() throws IOException {
    setUp("append");
    task("p=1/a");
    link(root.resolve("00/output/p=1/stray"), victim);
    link(root.resolve("stray"), victim.resolve("deep"));
    job.abort();
    assertThat(root).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"heartbeat", ".heartbeat.crc"})
  void whatIsWrittenIsNotWrittenThroughALink(String name) throws IOException {
    link(root.resolve(name), victim.resolve("a"));
    setUp("append");
    List<Object> messages = task("p=1/a");
    assertThatThrownBy(() -> job.commit(messages))
        .hasMessageContaining(name)
        .hasMessageContainingAll("is a symbolic link in a staging directory", "remove the link");
    job.abort();
    assertThat(root).doesNotExist();
    assertThat(visible()).isEmpty();
  }

  @Test
  void aLinkThatIsNamedAsAStagingRootIsNoJob() throws IOException {
    link(table.resolve("_manifest_other"), victim);
    write(table.resolve("p=1/old"), "old");
    setUp("static");
    job.commit(task("p=2/a"));
    assertThat(visible()).isEqualTo(Map.of("p=2/a", "new"));
    assertThat(table.resolve("_manifest_other")).isSymbolicLink();
    assertThat(recovery().find(path(table))).isEmpty();
    assertThat(stagedJobs().find(path(table), 0)).isEmpty();
  }

  @Test
  void whatIsCleanedIsNotFollowed() throws IOException {
    setUp("append");
    task("p=1/a");
    link(root.resolve("00/output/p=1/cycle"), root);
    assertThatThrownBy(() -> stagedJobs().find(path(table), 0))
        .hasMessageContaining("cycle is a symbolic link");
  }

  @Test
  void aLinkThatIsPutIntoReplacedDataFailsTheJob() throws IOException {
    write(table.resolve("p=1/old"), "old");
    setUp("partition");
    List<Object> messages = task("p=1/a");
    boolean[] isThere = {false};
    store.onRequest(
        (number, operation, path) -> {
          if (!isThere[0] && operation.equals("rename") && path.endsWith("/table/p=1")) {
            isThere[0] = true;
            linkUnchecked(table.resolve("p=1/link"), victim.resolve("deep"));
          }
          return Fate.NORMAL;
        });
    assertThatThrownBy(() -> job.commit(messages)).hasMessageContaining("link is a symbolic link");
    store.noFault();
    job.abort();
    assertThat(table.resolve("p=1/link")).isSymbolicLink();
    assertThat(visible()).containsEntry("p=1/old", "old").doesNotContainKey("p=1/a");
  }

  private static void linkUnchecked(Path link, Path target) {
    try {
      link(link, target);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aLinkToTheTableIsFollowed() throws IOException {
    Path real = Files.move(table, directory.resolve("real"));
    link(table, real);
    setUp("append");
    job.commit(task("p=1/a"));
    assertThat(Files.readString(real.resolve("p=1/a"))).isEqualTo("new");
  }

  @Test
  void aJournalIsNotReadThroughALink() throws IOException {
    write(directory.resolve("journal"), "forged");
    link(root.resolve("00/journal-planned-0"), directory.resolve("journal"));
    StagingRoot dead = new StagingRoot(path(table), JOB_ID);
    assertThatThrownBy(() -> recovery().run(dead, Recovery.Direction.AS_MARKED))
        .hasMessageContaining("journal-planned-0 is a symbolic link");
  }

  private Recovery recovery() {
    return Recoveries.of(store.configuration(), /* force= */ true);
  }

  private StagedJobs stagedJobs() throws IOException {
    Configuration conf = store.configuration();
    return new StagedJobs(store.stores(conf), new CommitterConfig(conf));
  }
}
