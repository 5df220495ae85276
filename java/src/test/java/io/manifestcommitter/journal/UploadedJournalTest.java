// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.journal.CommitJournal.LostJournalException;
import io.manifestcommitter.journal.CommitJournal.State;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two who know of one journal on S3: the driver that wrote it, and who found it there. */
class UploadedJournalTest {
  private static final Path TABLE = new Path("s3a://journal/table");
  private static final Path STAGING = new Path(TABLE, "_manifest_job");
  private static final Path DIRECTORY = new Path(STAGING, "00");
  private static final String PLANNED = "/table/_manifest_job/00/journal-planned-0";

  private final MemoryStoreState state = MemoryFileSystem.state("journal");
  private final Store store = new Stores(MemoryFileSystem.configuration()).all();

  private CommitJournal driver;

  @BeforeEach
  void write() throws IOException {
    state.clear();
    JobPlan plan =
        new JobPlanner("job", new Target(TABLE, STAGING))
            .plan(new ExistingDirectories(Set.of(), Set.of()), List.of(), List.of());
    driver = CommitJournal.write(store, DIRECTORY, plan);
  }

  @Test
  void nobodyFindsItBeforeItHasBegun() throws IOException {
    assertThat(driver.hasNoName()).isTrue();
    assertThat(CommitJournal.find(store, DIRECTORY)).isEmpty();

    driver.begin();

    assertThat(driver.hasNoName()).isFalse();
    CommitJournal found = found();
    assertThat(found.state()).isEqualTo(State.PLANNED);
    assertThat(found.plan(new StagingRoot(TABLE, "job")).jobId).isEqualTo("job");
  }

  @Test
  void whoseCommitIsRolledBackNeverGoesForward() throws IOException {
    driver.begin();
    CommitJournal recovery = found();

    assertThat(recovery.revoke()).isTrue();

    assertThatThrownBy(driver::pointOfNoReturn).isInstanceOf(LostJournalException.class);
    assertThat(found().state()).isEqualTo(State.REVOKED);
    assertThat(state.uploads()).isEmpty();
  }

  @Test
  void whatWentForwardIsNeverRolledBack() throws IOException {
    driver.begin();
    CommitJournal recovery = found();

    driver.pointOfNoReturn();

    assertThat(recovery.state()).isEqualTo(State.PLANNED);
    assertThat(recovery.revoke()).isFalse();
    assertThat(recovery.state()).isEqualTo(State.COMMITTED);
    assertThat(found().state()).isEqualTo(State.COMMITTED);
  }

  @Test
  void goingForwardTwiceDoesNoHarm() throws IOException {
    driver.begin();
    CommitJournal recovery = found();
    driver.pointOfNoReturn();
    driver.pointOfNoReturn();
    recovery.pointOfNoReturn();
    assertThat(found().state()).isEqualTo(State.COMMITTED);
  }

  @Test
  void aStepForwardWhoseAnswerIsLostWasMade() throws IOException {
    driver.begin();
    state.onRequest(Fault.on("complete", Fate.FAILS_AFTER, path -> true));
    driver.pointOfNoReturn();
    assertThat(driver.state()).isEqualTo(State.COMMITTED);
    assertThat(found().revoke()).isFalse();
  }

  @Test
  void whatIsLeftOfAnEndedJournalIsNotRolledBack() throws IOException {
    driver.begin();
    driver.end();
    assertThat(state.files()).doesNotContainKey(PLANNED);
    store.deleteFile(driver.path());
    assertThat(found().state()).isEqualTo(State.FINISHED);
  }

  @Test
  void whatWasRolledBackHasEnded() throws IOException {
    driver.begin();
    assertThat(driver.revoke()).isTrue();
    driver.ended();
    assertThat(found().state()).isEqualTo(State.FINISHED);
    assertThat(state.files()).doesNotContainKey(PLANNED);
  }

  @Test
  void anEndIsNotWrittenWhereSomebodyElseHasCleanedUp() throws IOException {
    driver.begin();
    driver.pointOfNoReturn();
    store.deleteTree(STAGING);
    driver.end();
    assertThat(driver.isStillToEnd()).isFalse();
    assertThat(state.paths()).noneMatch(path -> path.contains("_manifest_"));
  }

  @Test
  void aFirstFileThatStaysIsStillToGoBeforeTheDirectoryDoes() throws IOException {
    driver.begin();
    state.onRequest(
        (number, operation, path) ->
            operation.startsWith("delete") ? Fate.FAILS_BEFORE : Fate.NORMAL);
    driver.end();
    assertThat(driver.isStillToEnd()).isTrue();
    state.onRequest((number, operation, path) -> Fate.NORMAL);
    assertThat(state.files()).containsKey(PLANNED);

    CommitJournal recovery = found();
    assertThat(recovery.state()).isEqualTo(State.FINISHED);
    assertThat(recovery.isStillToEnd()).isTrue();
    recovery.ended();

    assertThat(recovery.isStillToEnd()).isFalse();
    assertThat(state.files()).doesNotContainKey(PLANNED);
  }

  @Test
  void anEndThatCannotBeNotedShowsByTheFirstFile() throws IOException {
    driver.begin();
    state.onRequest(
        (number, operation, path) -> path.contains("finished") ? Fate.FAILS_BEFORE : Fate.NORMAL);
    driver.end();

    assertThat(driver.isStillToEnd()).isFalse();
    assertThat(state.files()).doesNotContainKey(PLANNED);
    assertThat(found().state()).as("by the first file").isEqualTo(State.FINISHED);
  }

  @Test
  void aDamagedFirstFileIsNeitherGoneForwardNorBack() throws IOException {
    driver.begin();
    state.write(PLANNED, "damage");
    CommitJournal recovery = found();
    assertThatThrownBy(recovery::revoke)
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContainingAll(PLANNED, "recover --complete");
    assertThat(state.uploads()).hasSize(1);
  }

  private CommitJournal found() throws IOException {
    return CommitJournal.find(store, DIRECTORY).orElseThrow();
  }
}
