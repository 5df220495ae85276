// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.FileIdentity.Upload;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JobPlannerTest {
  private static final FileIdentity UPLOADED =
      new FileIdentity(1, new Upload("id", List.of("0a")).toEtag(""), 0);
  private static final Path TABLE = new Path("abfs://c@a/w/table");
  private static final Path STAGING = new Path(TABLE, "_manifest_job1");
  private static final ExistingDirectories NOTHING = new ExistingDirectories(Set.of(), Set.of());

  private final JobPlanner planner = new JobPlanner("job1", new Target(TABLE, STAGING));

  @Test
  void aPlanHoldsWhatWasPlanned() throws Exception {
    FileEntry first = file("a/0", "a/f0", 3);
    FileEntry second = file("b/1", "f1", 4);
    planner.task("task1");
    planner.task("task2");
    planner.publish(first);
    planner.publish(second);
    planner.warn("one file less");
    OldDirectory old =
        new OldDirectory(at("a"), List.of(StoreEntry.file(at("a/old"), 1, "tag", 0)));

    JobPlan plan = planner.plan(NOTHING, List.of(old), List.of());

    assertThat(plan.jobId).isEqualTo("job1");
    assertThat(plan.table).isEqualTo(TABLE);
    assertThat(plan.files).containsExactly(first, second);
    assertThat(plan.files.bytes()).isEqualTo(7);
    assertThat(plan.tasks).isEqualTo(2);
    assertThat(plan.replaced).containsExactly(old);
    assertThat(plan.warnings).containsExactly("one file less");
    assertThat(plan.filesInTheWay).isEmpty();
    assertThat(plan).asString().contains("job1", TABLE.toString(), "2 files", "7 bytes");
  }

  @Test
  void anEmptyJobHasAnEmptyPlan() throws Exception {
    JobPlan plan = planner.plan(NOTHING, List.of(), List.of());

    assertThat(plan.files).isEmpty();
    assertThat(plan.files.bytes()).isZero();
    assertThat(plan.tasks).isZero();
    assertThat(plan.directoriesToMake(Set.of())).isEmpty();
    assertThat(planner.directories()).isEmpty();
  }

  @Test
  void aPlanDoesNotChangeWithItsPlanner() throws Exception {
    planner.publish(file("0", "p=1/f0"));
    JobPlan plan = planner.plan(NOTHING, List.of(), List.of());
    assertThatThrownBy(() -> planner.publish(file("1", "p=2/f1")))
        .isInstanceOf(IllegalStateException.class);
    planner.warn("late");

    assertThat(plan.files).hasSize(1);
    assertThat(plan.missingDirectories).containsExactly(at("p=1"));
    assertThat(plan.warnings).isEmpty();
    assertThatThrownBy(() -> plan.missingDirectories.clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void directoriesAreThoseOfAllLevelsBelowTheTable() throws Exception {
    planner.publish(file("0", "y=1/m=1/d=1/f"));
    planner.publish(file("1", "y=1/m=2/f"));
    planner.publish(file("2", "f"));

    assertThat(planner.directories()).isEqualTo(paths("y=1", "y=1/m=1", "y=1/m=1/d=1", "y=1/m=2"));
  }

  @Test
  void directoriesToMakeAreTheLeaves() throws Exception {
    planner.publish(file("0", "y=1/m=1/d=1/f"));
    planner.publish(file("1", "y=1/m=1/f"));
    planner.publish(file("2", "y=1/m=2/f"));
    planner.publish(file("3", "y=2/f"));
    JobPlan plan = planner.plan(NOTHING, List.of(), List.of());

    assertThat(plan.missingDirectories)
        .isEqualTo(paths("y=1", "y=1/m=1", "y=1/m=1/d=1", "y=1/m=2", "y=2"));
    assertThat(plan.directoriesToMake(Set.of()))
        .containsExactlyInAnyOrder(at("y=1/m=1/d=1"), at("y=1/m=2"), at("y=2"));
  }

  @Test
  void directoriesThatExistAreNotMadeAgain() throws Exception {
    planner.publish(file("0", "y=1/m=1/f"));
    planner.publish(file("1", "y=1/m=2/f"));
    planner.publish(file("2", "y=2/f"));
    JobPlan plan =
        planner.plan(
            new ExistingDirectories(paths("y=1", "y=1/m=1", "y=2"), Set.of()),
            List.of(),
            List.of());

    assertThat(plan.missingDirectories).containsExactly(at("y=1/m=2"));
    assertThat(plan.directoriesToMake(Set.of())).containsExactly(at("y=1/m=2"));
  }

  @Test
  void aFileInTheWayIsADirectoryThatIsMissing() throws Exception {
    planner.publish(file("0", "p=1/f"));
    JobPlan plan =
        planner.plan(new ExistingDirectories(Set.of(), paths("p=1")), List.of(), List.of());

    assertThat(plan.filesInTheWay).containsExactly(at("p=1"));
    assertThat(plan.directoriesToMake(Set.of())).containsExactly(at("p=1"));
  }

  @Test
  void aDirectoryWithoutFilesIsPlannedToo() throws Exception {
    planner.directory(at("empty/below"));
    planner.directory(TABLE);

    assertThat(planner.directories()).isEqualTo(paths("empty", "empty/below"));
  }

  @Test
  void twoAttemptsOfOneTaskAreRefused() throws Exception {
    planner.task("task_1_0001_m_000007");

    assertRefused(() -> planner.task("task_1_0001_m_000007"), "task_1_0001_m_000007");
  }

  @Test
  void twoFilesOfOneDestinationAreRefused() throws Exception {
    planner.publish(file("t1/f", "p=1/f"));
    planner.publish(file("t1/g", "p=1/g"));
    planner.publish(file("t2/f", "p=1/f"));

    assertRefused(
        () -> planner.plan(NOTHING, List.of(), List.of()),
        new Path(STAGING, "t1/f"),
        new Path(STAGING, "t2/f"),
        at("p=1/f"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "abfs://c@a/w/other/f",
        "abfs://c@a/w/table2/f",
        "abfs://c@a/w/table",
        "abfs://c@other/w/table/f",
        "abfss://c@a/w/table/f",
        "abfs://c@a/w/table/../other/f",
        "abfs://c@a/w/table/_manifest_job1/f",
        "abfs://c@a/w/table/_manifest_job1",
        "file:/etc/passwd"
      })
  void aDestinationOutsideTheTableIsRefused(String destination) {
    FileEntry file = new FileEntry(new Path(STAGING, "0"), new Path(destination), 1, null, 0);

    assertRefused(() -> planner.publish(file), file.source(), file.destination(), TABLE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "abfs://c@a/w/table/old",
        "abfs://c@a/w/table/_manifest_job1",
        "abfs://c@a/w/table/_manifest_job10/f",
        "abfs://c@a/w/table/_manifest_job2/f",
        "abfs://c@a/w/table/_manifest_job1/../f",
        "abfs://c@other/w/table/_manifest_job1/f",
        "file:/etc/passwd"
      })
  void aSourceOutsideTheStagingDirectoryIsRefused(String source) {
    FileEntry file = new FileEntry(new Path(source), at("f"), 1, null, 0);

    assertRefused(() -> planner.publish(file), file.source(), file.destination(), STAGING);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "abfs://c@a/w/other",
        "abfs://c@a/w",
        "abfs://c@a/w/table2",
        "abfs://c@a/w/table/_manifest_job1",
        "abfs://c@a/w/table/_manifest_job1/x"
      })
  void aDirectoryOutsideTheTableIsRefused(String directory) {
    assertRefused(() -> planner.directory(new Path(directory)), directory, TABLE);
  }

  @Test
  void aFileThatIsAlsoADirectoryIsRefused() throws Exception {
    planner.publish(file("t1/x", "p"));
    planner.publish(file("t2/y", "p/y"));

    assertRefused(
        () -> planner.plan(NOTHING, List.of(), List.of()), at("p"), new Path(STAGING, "t1/x"));
  }

  @Test
  void aFileThatIsAlsoAnEmptyDirectoryIsRefused() throws Exception {
    planner.directory(at("p/q"));
    planner.publish(file("t1/x", "p"));

    assertRefused(
        () -> planner.plan(NOTHING, List.of(), List.of()), at("p"), new Path(STAGING, "t1/x"));
  }

  @Test
  void aFileThatGoesWhereADirectoryIsIsRefused() throws Exception {
    planner.publish(file("t1/x", "p=1/part-0"));
    planner.publish(file("t1/y", "p=1/part-1"));
    planner.occupied(List.of(at("p=1/other"), at("p=1/part-1")));

    assertRefused(
        () -> planner.plan(NOTHING, List.of(), List.of()),
        at("p=1/part-1"),
        new Path(STAGING, "t1/y"),
        "is a directory");
  }

  @Test
  void directoriesBesideTheFilesAreFine() throws Exception {
    planner.publish(file("t1/x", "p=1/part-0"));
    planner.occupied(List.of(at("p=1"), at("p=1/part"), at("p=1/part-00")));

    assertThat(planner.plan(NOTHING, List.of(), List.of()).files).hasSize(1);
  }

  @Test
  void whatWasRefusedIsNotInThePlan() throws Exception {
    assertRefused(() -> planner.publish(file("0", "../elsewhere/f")), TABLE);

    assertThat(planner.plan(NOTHING, List.of(), List.of()).files).isEmpty();
    assertThat(planner.directories()).isEmpty();
  }

  @Test
  void anotherTargetTakesFilesFromItsOwnStagingDirectoryOnly() throws Exception {
    Path location = new Path("file:/elsewhere/p=1");
    Path itsStaging = new Path(location, "_manifest_job1");
    planner.allow(new Target(location, itsStaging));
    FileEntry own = new FileEntry(new Path(itsStaging, "0"), new Path(location, "x/f"), 1, null, 0);
    planner.publish(own);

    assertThat(planner.directories()).containsExactly(new Path(location, "x"));
    assertThat(planner.plan(NOTHING, List.of(), List.of()).files).containsExactly(own);
    assertThat(planner.parents()).containsExactly(new Path(location, "x"));
    assertRefused(
        () ->
            planner.publish(
                new FileEntry(new Path(STAGING, "1"), new Path(location, "f"), 1, null, 0)),
        new Path(STAGING, "1"),
        location);
    assertRefused(
        () -> planner.publish(new FileEntry(new Path(itsStaging, "2"), at("f"), 1, null, 0)),
        new Path(itsStaging, "2"),
        at("f"));
  }

  @Test
  void anUploadGoesToTheInnermostTargetThatHoldsIt() throws Exception {
    Path location = at("deep/location");
    planner.allow(new Target(location, new Path(location, "_manifest_job1")));
    FileEntry inLocation = FileEntry.uploaded(new Path(location, "x"), "f", UPLOADED);
    FileEntry inTable = FileEntry.uploaded(at("p"), "f", UPLOADED);
    planner.publish(inLocation);
    planner.publish(inTable);

    FileEntry inItsStaging = FileEntry.uploaded(location, "_manifest_job1", UPLOADED);
    assertRefused(() -> planner.publish(inItsStaging), "an upload");
    assertThat(planner.directories()).containsExactly(new Path(location, "x"), at("p"));
    assertThat(planner.plan(NOTHING, List.of(), List.of()).files)
        .containsExactly(inLocation, inTable);
    for (Path outside : List.of(new Path("abfs://c@a/w/other"), TABLE.getParent(), STAGING)) {
      assertRefused(
          () -> planner.publish(FileEntry.uploaded(outside, "f", UPLOADED)),
          "an upload",
          outside + "/f");
    }
  }

  @Test
  void aStagingDirectoryOutsideItsTargetIsRefused() {
    assertThatThrownBy(() -> new Target(TABLE, new Path("abfs://c@a/w/staging")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(TABLE.toString(), "abfs://c@a/w/staging");
    assertThatThrownBy(() -> new Target(TABLE, TABLE)).isInstanceOf(IllegalArgumentException.class);
  }

  private static FileEntry file(String source, String destination) {
    return file(source, destination, 1);
  }

  private static FileEntry file(String source, String destination, long size) {
    return new FileEntry(
        StorePaths.resolve(STAGING, source), StorePaths.resolve(TABLE, destination), size, null, 0);
  }

  private static Path at(String relative) {
    return StorePaths.resolve(TABLE, relative);
  }

  private static Set<Path> paths(String... relative) {
    return Stream.of(relative).map(JobPlannerTest::at).collect(Collectors.toSet());
  }

  private static void assertRefused(ThrowingCallable call, Object... says) {
    assertThatThrownBy(call)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("Nothing was published")
        .hasMessageContainingAll(Stream.of(says).map(Object::toString).toArray(String[]::new));
  }
}
