"""Deliberate defects in what decides about data, and the test class that has to notice each.

An entry names a source file, below ``io/manifestcommitter``, and replaces texts in it, each of
which occurs there exactly once. Texts are short, so that they survive changes around them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Defect:
    """One defect."""

    name: str
    what: str
    file: str
    edits: tuple[tuple[str, str], ...]
    test: str


def defect(name: str, what: str, file: str, *edits: tuple[str, str], by: str) -> Defect:
    return Defect(name, what, file, edits, by)


PLAN = (
    defect(
        "no-seal",
        "the staging tree is not closed to attempts that go on writing",
        "spark/SealStaging.java",
        ("if (!store.traits(staging.root()).hasAtomicDirectoryRename()) {", "if (true) {"),
        by="ZombieTest",
    ),
    defect(
        "no-completeness",
        "a committed file that is missing does not fail the job",
        "spark/ProveStaged.java",
        ("if (missing == 0) {", "if (missing >= 0) {"),
        by="SparkJobTest",
    ),
    defect(
        "strays-published",
        "what no committed attempt named stays in a directory that is renamed",
        "spark/PlanSparkJob.java",
        ("removeStrays(strays, swaps);", ""),
        by="DirectoryPublishingTest",
    ),
    defect(
        "strays-planned",
        "what no committed attempt named is published like what they named",
        "spark/ProveStaged.java",
        (
            "} else if (!directory.leadsOn(entry)) {",
            "} else if (!entry.isDirectory()) {\n        files.add(directory.planned(entry));\n"
            "      } else if (!directory.leadsOn(entry)) {",
        ),
        by="SparkJobTest",
    ),
    defect(
        "late-stray-stays",
        "a file of the job that comes with a renamed directory and is not in the plan stays",
        "commit/SwapDirectories.java",
        ("Attempts.few(() -> store.deleteFile(stray));", ""),
        by="DirectoryPublishingTest",
    ),
    defect(
        "two-attempts",
        "two committed attempts of one task are both published",
        "spark/CommittedFiles.java",
        ("if (!tasks.add(output.task())) {", "if (!tasks.add(output.task()) && false) {"),
        by="CommittedFilesTest",
    ),
    defect(
        "message-of-another-job",
        "a commit message of another job is believed",
        "spark/CommittedFiles.java",
        ("if (!output.jobId().equals(jobId)) {", "if (false) {"),
        by="CommittedFilesTest",
    ),
    defect(
        "damaged-message",
        "a damaged commit message is believed",
        "spark/TaskOutput.java",
        ("if ((int) checksum.getValue() != expected) {", "if (false) {"),
        by="TaskOutputTest",
    ),
    defect(
        "attempts-share-names",
        "the attempts of a task write to the same file",
        "spark/ManifestCommitProtocol.java",
        ("        attempt.id,\n", "        0L,\n"),
        by="ZombieTest",
    ),
    defect(
        "one-destination",
        "two files may claim one destination",
        "plan/JobPlanner.java",
        ("if (other != null) {", "if (false) {"),
        by="JobPlannerTest",
    ),
    defect(
        "outside-the-table",
        "a file may be published outside the table",
        "plan/Target.java",
        (
            "return StorePaths.isBelow(directory, destination)",
            "return !destination.equals(directory)",
        ),
        by="JobPlannerTest",
    ),
    defect(
        "conflict-mode-fail",
        "conflict.mode = fail lets existing partitions pass",
        "spark/Conflicts.java",
        ("if (mode == ConflictMode.FAIL && !there.isEmpty()) {", "if (false) {"),
        by="ConflictModeTest",
    ),
    defect(
        "other-format",
        "the root of a Delta, Hudi or Iceberg table is overwritten",
        "spark/SparkJob.java",
        ("existing.requirePlainFiles(store);", ""),
        by="SparkJobTest",
    ),
    defect(
        "staging-is-old-data",
        "an overwrite of the table takes other jobs' staging trees for old data",
        "commit/FindOldData.java",
        ("listing.holdsStaging = true;", "listing.directories.add(entry);"),
        by="DirectoryPublishingTest",
    ),
    defect(
        "staging-moves-with-its-partition",
        "a partition is moved aside with the staging tree of another job in it",
        "spark/PlanSwaps.java",
        ("if (aboveStaging.contains(directory)", "if (false"),
        by="DirectoryPublishingTest",
    ),
    defect(
        "other-rights",
        "a directory is renamed to where other permissions hold",
        "spark/PlanSwaps.java",
        ("&& entry.get().rights().areSameAs(targetsRights());", ";"),
        by="PublishingRightsTest",
    ),
    defect(
        "access-control-list",
        "two directories with access control lists count as having the same rights",
        "store/Rights.java",
        ("        && !hasAcl()\n        && !other.hasAcl()\n", ""),
        by="RightsTest",
    ),
)

PUBLISH = (
    defect(
        "new-before-old-is-aside",
        "a directory is renamed to its place before the old one has left it",
        "commit/SwapDirectories.java",
        (
            "    if (swap.aside().isPresent() && !swapped.isAside(number)) {",
            "    if (swap.staged().isPresent() && publish(swap)) {\n"
            "      swapped.published(number);\n    }\n"
            "    if (swap.aside().isPresent() && !swapped.isAside(number)) {",
        ),
        by="ReaderViewTest",
    ),
    defect(
        "journal-after-first-rename",
        "the journal is written after the first change that is visible",
        "commit/CommitJob.java",
        ("    source.begin(plan);\n\n", ""),
        (
            "    if ((published.hasRecovered() ||",
            "    source.begin(plan);\n    if ((published.hasRecovered() ||",
        ),
        by="CrashTest",
    ),
    defect(
        "no-journal",
        "no journal is written",
        "spark/PlanSparkJob.java",
        (
            "journal = Optional.of(CommitJournal.write(store, staging.attempt(), plan));",
            "journal = Optional.empty();",
        ),
        by="CrashTest",
    ),
    defect(
        "journal-in-place",
        "the journal is written under the name by which it is found",
        "journal/CommitJournal.java",
        (
            'Path temporary = new Path(directory, NAME + ".tmp");',
            "Path temporary = new CommitJournal(store, directory, 0, State.PLANNED, 0).path();",
        ),
        ("    journal.move(temporary, journal.path());\n", ""),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "mark-after-deletion",
        "the commit mark is written after old data is deleted",
        "commit/CommitJob.java",
        (
            "      source.pointOfNoReturn();\n      pastReturn = true;\n"
            "      step(REMOVE_OLD_DATA, this::removeOldData);\n",
            "      step(REMOVE_OLD_DATA, this::removeOldData);\n"
            "      source.pointOfNoReturn();\n      pastReturn = true;\n",
        ),
        by="CrashTest",
    ),
    defect(
        "no-mark",
        "no commit mark is written",
        "spark/PlanSparkJob.java",
        ("journal.get().committed();", ""),
        by="CrashTest",
    ),
    defect(
        "published-directory-not-listed",
        "nobody looks whether a renamed directory landed inside another one",
        "commit/SwapDirectories.java",
        ("return found[0] == plan.swaps().filesIn(directory);", "return true;"),
        by="DirectoryPublishingTest",
    ),
    defect(
        "asides-not-listed",
        "what another job added to a partition before it was moved aside goes with the old data",
        "commit/CommitJob.java",
        ("new ReleaseAsides(store, workers).run(plan, swapped);", ""),
        by="DirectoryPublishingTest",
    ),
    defect(
        "old-data-by-name",
        "a file is deleted as old data though another job has written it again since",
        "commit/RemoveOldData.java",
        (
            "if (asPlanned != null && asPlanned.isSameFileAs(entry)) {",
            "if (asPlanned != null) {",
        ),
        by="SparkJobTest",
    ),
    defect(
        "new-file-deleted-as-old",
        "a new file under the name of an old one is deleted with the old data",
        "commit/CommitJob.java",
        ("isAside(file.path()) || plan.takes(file.path())", "isAside(file.path())"),
        by="SparkJobTest",
    ),
    defect(
        "report-before-deletion",
        "_SUCCESS becomes visible before old data is gone",
        "commit/CommitJob.java",
        (
            "    if (!plan.replaced().isEmpty()) {",
            "    if (config.markSuccessfulJobs()) {\n      report.publish();\n    }\n"
            "    if (!plan.replaced().isEmpty()) {",
        ),
        by="CrashTest",
    ),
    defect(
        "last-report-lost",
        "a job that fails does not bring the last job's _SUCCESS back",
        "commit/CommitJob.java",
        ("left.addAll(report.bringBackLast());", ""),
        by="SparkJobFaultTest",
    ),
    defect(
        "old-back-before-new-is-gone",
        "taking back moves the old data to its place before the new has left it",
        "commit/TakeBack.java",
        ("    swaps.withdraw(left);\n", "    swaps.bringBack(left);\n    swaps.withdraw(left);\n"),
        by="ReaderViewTest",
    ),
    defect(
        "foreign-files-taken-back",
        "taking back keeps what another job put into a directory meanwhile",
        "commit/RestoreSwaps.java",
        ("() -> new GiveBack(store).run(staged, item.place(), own())", "() -> {}"),
        by="DirectoryPublishingTest",
    ),
    defect(
        "full-directories-deleted",
        "taking back deletes directories with what other jobs have in them",
        "commit/RemoveEmptyDirectories.java",
        ("store.deleteEmptyDirectory(directory);", "store.deleteTree(directory);"),
        by="SparkJobTest",
    ),
)

STORE = (
    defect(
        "false-rename-believed",
        'a rename that the store answered with "no" counts as done',
        "store/HadoopStore.java",
        ("      if (request.run()) {\n", "      if (request.run() || true) {\n"),
        by="HadoopStoreTest",
    ),
    defect(
        "rename-not-recovered",
        'a "no" is believed though the rename was done',
        "store/HadoopStore.java",
        (
            "    if (oursAtDestination && !atSource.isPresent()) {",
            "    if (false) {",
        ),
        by="HadoopStoreTest",
    ),
    defect(
        "rename-repeated-blindly",
        "a rename of a directory is sent again without a look",
        "store/DirectoryRename.java",
        ("if (asked && (exists(destination) || !exists(source))) {", "if (false) {"),
        by="DirectoryRenameTest",
    ),
    defect(
        "etag-not-compared",
        "a file with another etag is taken for the same",
        "store/StoreEntry.java",
        ("&& !etag.equals(otherEtag)) {", "&& false) {"),
        by="MemoryAbfsStoreContractTest",
    ),
    defect(
        "length-not-compared",
        "a file of another length is taken for the same",
        "store/StoreEntry.java",
        ("length != otherLength", "false"),
        by="MemoryGsStoreContractTest",
    ),
    defect(
        "local-file-replaced",
        "a rename on a local disk replaces a file",
        "store/LocalStore.java",
        (
            "      Optional<StoreEntry> existing = status(file.destination());",
            "      Optional<StoreEntry> existing = Optional.empty();",
        ),
        by="LocalStoreContractTest",
    ),
)

RECOVERY = (
    defect(
        "heartbeat-ignored",
        "a job whose driver lives is recovered",
        "journal/Recovery.java",
        ("age.get() < config.heartbeatTimeout()) {", "age.get() < 0) {"),
        by="RecoverTest",
    ),
    defect(
        "no-claim",
        "recovery does not take the journal from the driver, which may go on",
        "journal/Recovery.java",
        ("      journal.claim();\n", ""),
        by="LostClaimTest",
    ),
    defect(
        "lost-claim-ignored",
        "a driver that lost its journal to a recovery takes back what that recovers",
        "spark/PlanSparkJob.java",
        ("return !journal.isPresent() || journal.get().isHeld();", "return true;"),
        by="LostClaimTest",
    ),
    defect(
        "committed-rolled-back",
        "recovery takes back a commit that is past its mark",
        "journal/Recovery.java",
        (
            "      case COMMITTED:\n        commit.rollForward(plan);",
            "      case COMMITTED:\n        commit.rollBack(plan);",
        ),
        by="CrashTest",
    ),
    defect(
        "reported-rolled-back",
        "recovery takes back an append whose _SUCCESS is there",
        "journal/Recovery.java",
        ("if (commit.hasReported()) {", "if (false) {"),
        by="CrashTest",
    ),
    defect(
        "overwritten-since",
        "recovery brings old data back into a place that another job has overwritten since",
        "commit/CommitJob.java",
        (
            "          new OverwrittenSince(store, workers).requireNone(plan);\n"
            "          withdrawFromStore(",
            "          withdrawFromStore(",
        ),
        by="CrashTest",
    ),
    defect(
        "clean-takes-the-living",
        "clean removes the staging tree of a job that runs",
        "cli/CleanRule.java",
        ("if (!force && job.state() == StagedJob.State.RUNNING) {", "if (false) {"),
        by="CleanTest",
    ),
    defect(
        "clean-takes-the-unfinished",
        "clean removes what an unfinished commit needs to be recovered",
        "cli/CleanRule.java",
        ("if (job.hasUnfinishedCommit() && !discardUnfinished) {", "if (false) {"),
        by="CleanTest",
    ),
)

HADOOP_PROTOCOL = (
    defect(
        "second-attempt-loses",
        "a second committed attempt of a task does not replace the first one's manifest",
        "commit/CommitTask.java",
        ("      store.deleteFile(target);\n", ""),
        by="CommitTaskTest",
    ),
    defect(
        "manifest-in-place",
        "a manifest is written under the name by which job commit finds it",
        "commit/CommitTask.java",
        (
            "Path temporary = paths.temporaryManifest(manifest.taskAttemptId());",
            "Path temporary = paths.manifest(manifest.taskId());",
        ),
        by="CommitTaskTest",
    ),
    defect(
        "manifest-of-another-job",
        "a manifest of another job is believed",
        "commit/LoadManifests.java",
        ("if (!manifest.jobId().equals(paths.jobId())\n        ||", "if ("),
        by="ManifestCommitterRefusalTest",
    ),
    defect(
        "damaged-manifest",
        "a manifest is believed whatever its checksum says",
        "manifest/TaskManifest.java",
        (
            "if (checksum != null && !checksum.equals(manifest.checksum())) {",
            "if (false) {",
        ),
        by="ManifestCommitterRefusalTest",
    ),
    defect(
        "no-commit-mark",
        "job commit leaves no mark by which it can be repeated or taken back",
        "commit/LoadManifests.java",
        ("if (!markSeen) {", "if (false) {"),
        by="ManifestCommitterAbortTest",
    ),
    defect(
        "other-manifests",
        "a commit is repeated with other manifests than those of its first try",
        "commit/LoadManifests.java",
        ("!mark.get().manifests().equals(identity())", "false"),
        by="ManifestCommitterJobTest",
    ),
    defect(
        "directory-at-destination",
        "a file may be renamed onto a directory, which takes it in",
        "commit/LoadManifests.java",
        ("      noteDirectoriesAtDestinations(planner, existing);\n", ""),
        by="ManifestCommitterJobTest",
    ),
    defect(
        "committed-again",
        "a job that is committed is published once more",
        "commit/LoadManifests.java",
        ("return markSeen && hasOwnReport();", "return false;"),
        by="RepeatedCommitTest",
    ),
    defect(
        "abort-undoes-a-commit",
        "an abort takes back a job that is committed",
        "commit/CommitJob.java",
        ("takeBack(manifests, manifests::hasOwnReport);", "takeBack(manifests, () -> false);"),
        by="RepeatedCommitTest",
    ),
    defect(
        "replaced-file-lost",
        "an abort does not bring a replaced file back",
        "commit/TakeBack.java",
        ("replaced.bringBack(file.item().destination(), asides);", ""),
        by="RepeatedCommitTest",
    ),
    defect(
        "other-jobs-temporary",
        "cleanup deletes the directories of other jobs in _temporary",
        "commit/CleanupJob.java",
        (
            "store.deleteEmptyDirectory(paths.temporaryDirectory());",
            "store.deleteTree(paths.temporaryDirectory());",
        ),
        by="ManifestCommitterAbortTest",
    ),
    defect(
        "stale-manifests",
        "a job takes over the manifests that another one of its id has left",
        "HadoopJob.java",
        (
            "              store.list(paths.manifestDirectory(), this::refuseOldManifest);\n",
            "",
        ),
        by="ManifestCommitterConductTest",
    ),
)

ALL = {
    "Spark protocol: the plan": PLAN,
    "Publishing and taking back": PUBLISH,
    "Stores": STORE,
    "Recovery and cleaning": RECOVERY,
    "Hadoop protocol": HADOOP_PROTOCOL,
}
