# SPDX-License-Identifier: Apache-2.0
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
        "the staging directory is not sealed against attempts that go on writing",
        "spark/SealOutput.java",
        (
            "if (!store.traits(root.root()).hasAtomicDirectoryRename()) {\n      return",
            "if (true) {\n      return",
        ),
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
        "spark/CommitSparkJob.java",
        (
            "proof.removeStrays(plan.swaps().all());",
            "proof.removeStrays(List.of());",
        ),
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
        ("Retries.few(() -> store.deleteFile(stray));", ""),
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
        "spark/SetUpSparkJob.java",
        ("existing.requirePlainFiles(store);", ""),
        by="SparkJobTest",
    ),
    defect(
        "staging-is-old-data",
        "an overwrite of the table takes other jobs' staging directories for old data",
        "commit/FindOldData.java",
        ("listing.holdsStaging = true;", "listing.directories.add(entry);"),
        by="DirectoryPublishingTest",
    ),
    defect(
        "link-is-followed",
        "an overwrite takes what a symbolic link leads to for old data",
        "commit/FindOldData.java",
        ("entry.isDirectory() && !entry.isLink()", "entry.isDirectory()"),
        by="LinkedPartitionsTest",
    ),
    defect(
        "partition-link-is-followed",
        "an overwrite of a partition that is a symbolic link deletes what it leads to",
        "commit/FindOldData.java",
        ("place -> requireNoLink(store, place)", "place -> {}"),
        by="LinkedPartitionsTest",
    ),
    defect(
        "staging-moves-with-its-partition",
        "a partition is moved aside with the staging directory of another job in it",
        "spark/PlanSwaps.java",
        ("if (old.holdStaging(directory)", "if (false"),
        by="DirectoryPublishingTest",
    ),
    defect(
        "swap-above-a-swap",
        "a directory is published by one rename though another job has just made it",
        "spark/PlanSparkJob.java",
        ("look.found.with(old).withEntries(", "look.found.withEntries("),
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
        "spark/CommitSparkJob.java",
        (
            "      work.step(StatisticNames.JOB_STAGE_WRITE_JOURNAL,"
            " () -> writeJournal(plan, commit));\n"
            "      commit.publish();\n",
            "      commit.publish();\n      writeJournal(plan, commit);\n",
        ),
        by="CrashTest",
    ),
    defect(
        "report-made-again",
        "a driver that lost its commit publishes a report which it had to make again",
        "commit/CommitJob.java",
        ("        journal.get().requireHeld();\n", ""),
        by="LostClaimTest",
    ),
    defect(
        "roll-back-without-renouncing",
        "a commit on S3 is rolled back while its driver may still go past its point of no return",
        "journal/UploadedJournal.java",
        (
            "      discard();\n      if (Retries.few",
            "      if (Retries.few",
        ),
        by="UploadedJournalTest",
    ),
    defect(
        "uploads-left-behind",
        "what a job that is rolled back uploaded waits for ever",
        "commit/RollBackPublished.java",
        ("                store.abortUpload(file.item());\n", ""),
        by="UploadedOutputTest",
    ),
    defect(
        "completed-file-stays",
        "what was completed stays where another upload of the job is gone",
        "commit/RollBackPublished.java",
        (
            "      return;\n    }\n    store.deleteFile(file.destination());\n    statistics",
            "      return;\n    }\n    statistics",
        ),
        by="UploadedOutputTest",
    ),
    defect(
        "any-etag",
        "a completion is believed whatever etag it answers with",
        "store/S3Store.java",
        (": etag.equals(predicted)", ": true"),
        by="S3StoreTest",
    ),
    defect(
        "moves-though-switched-off",
        "a server that is said to have no moves fails a job at its first rename",
        "store/GcsStore.java",
        ("GcsMoves.areSwitchedOff(conf)", "false"),
        by="StoresTest",
    ),
    defect(
        "changed-while-uploaded",
        "what was uploaded while a file was written is believed, though its writer changed it",
        "store/S3FileUpload.java",
        ("if (!isAsUploaded())", "if (isAsUploaded() && false)"),
        by="S3StoreTest",
    ),
    defect(
        "growing-uploads-left",
        "an attempt that is aborted leaves what it uploaded while it wrote",
        "store/S3FileUpload.java",
        (
            "if (id == null) {\n      return;",
            "if (!pieces.isEmpty() || id == null) {\n      return;",
        ),
        by="UploadedOutputTest",
    ),
    defect(
        "followed-forever",
        "the thread that follows an attempt's files stays when nobody ends the attempt",
        "spark/FollowUploads.java",
        (
            "if (isOver.getAsBoolean()) {\n                thread.shutdown();",
            "if (isOver.getAsBoolean()) {",
        ),
        by="FollowUploadsTest",
    ),
    defect(
        "repeated-answer",
        "the answer to a repeated completion is believed",
        "store/S3Store.java",
        ("tries == 1 && isAsPredicted", "isAsPredicted"),
        by="S3StoreTest",
    ),
    defect(
        "resumed-answer",
        "so is that to a completion which another process may have made",
        "commit/CommitJob.java",
        ("    isResumed = true;\n", ""),
        by="UploadedOutputTest",
    ),
    defect(
        "deleted-before-the-end",
        "the staging directory goes though its journal could not be ended",
        "journal/UploadedJournal.java",
        ("    return !isOver;\n", "    return false;\n"),
        by="UploadedJournalTest",
    ),
    defect(
        "no-journal",
        "no journal is written",
        "spark/CommitSparkJob.java",
        (
            "    begun.begin();\n",
            "    journal = Optional.empty();\n",
        ),
        by="CrashTest",
    ),
    defect(
        "lost-answer-of-the-first-rename",
        "a journal whose first rename failed is taken for one without a name; it may have one",
        "journal/CommitJournal.java",
        ("(begin == Begin.TRIED && isUnnamed())", "begin == Begin.TRIED"),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "journal-without-a-name",
        "a commit whose journal got no name is told to be recovered",
        "spark/CommitSparkJob.java",
        ("if (written.hasNoName()) {", "if (false) {"),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "journal-in-place",
        "the journal is written under the name by which it is found",
        "journal/RenamedJournal.java",
        (
            "            new Path(directory, TEMPORARY),\n",
            "            path(directory, State.PLANNED, 0),\n",
        ),
        (
            "    move(new FileEntry(new Path(directory, TEMPORARY), path(), size, null, 0));\n",
            "",
        ),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "mark-after-deletion",
        "the point of no return is noted after old data is deleted",
        "commit/CommitJob.java",
        (
            "      journal.get().pointOfNoReturn();\n"
            "      work.step("
            "StatisticNames.JOB_STAGE_REMOVE_OLD_DATA,"
            " () -> work.removeOldData(plan, asides));\n",
            "      work.step("
            "StatisticNames.JOB_STAGE_REMOVE_OLD_DATA,"
            " () -> work.removeOldData(plan, asides));\n"
            "      journal.get().pointOfNoReturn();\n",
        ),
        by="CrashTest",
    ),
    defect(
        "note-without-heartbeat",
        "a job leaves its note before it has shown that it lives",
        "spark/CommitSparkJob.java",
        ("          setUp.heartbeat.await();\n", ""),
        by="ReplacingJobsTest",
    ),
    defect(
        "half-note",
        "a job goes on with a part of its note, which somebody who took it for dead wrote again",
        "jobs/ReplaceNote.java",
        (".filter(note -> note.length() == length)", ""),
        by="ReplacingJobsTest",
    ),
    defect(
        "no-mark",
        "the point of no return is not noted",
        "commit/CommitJob.java",
        (
            "      journal.get().pointOfNoReturn();\n",
            "",
        ),
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
        "commit/CommitWork.java",
        (
            "    asides.run();\n",
            "",
        ),
        by="DirectoryPublishingTest",
    ),
    defect(
        "old-data-by-name",
        "a file is deleted as old data though another job has written it again since",
        "commit/RemoveOldData.java",
        (
            "if (isThere && entry.isUntouchedSince(asPlanned)) {",
            "if (isThere) {",
        ),
        by="SparkJobTest",
    ),
    defect(
        "unknown-rename-accepted",
        "a store of which nobody knows how it renames is served without being vouched for",
        "store/Stores.java",
        ("StoreFamily.OTHER && !isVouchedFor(path);", "StoreFamily.OTHER && false;"),
        by="StoresTest",
    ),
    defect(
        "volumes-not-compared",
        "a job begins to publish though a partition is on another volume",
        "commit/RequireOneVolume.java",
        ("if (directory.isPresent() && !directory", "if (false && !directory"),
        by="LocalVolumesTest",
    ),
    defect(
        "old-data-by-length",
        "a file is deleted as old data though another program has written it again since, with the"
        " same length, where the store tells nothing but the time",
        "commit/RemoveOldData.java",
        ("entry.isUntouchedSince(asPlanned)", "entry.isSameFileAs(asPlanned)"),
        by="SparkJobTest",
    ),
    defect(
        "old-data-without-time",
        "the journal does not tell when the old data was last written",
        "journal/PlanReader.java",
        ('.lastWritten(record.number("written"))', ".lastWritten(0)"),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "new-file-deleted-as-old",
        "a new file under the name of an old one is deleted with the old data",
        "commit/CommitWork.java",
        (
            " || plan.takes(file.path())",
            "",
        ),
        by="SparkJobTest",
    ),
    defect(
        "report-before-deletion",
        "_SUCCESS becomes visible before old data is gone",
        "commit/CommitJob.java",
        (
            "    work.workers.forwardToItsEnd();\n    if (replaces()) {",
            "    work.workers.forwardToItsEnd();\n    publishReport();\n    if (replaces()) {",
        ),
        by="CrashTest",
    ),
    defect(
        "list-not-written-again",
        "_SUCCESS and the list of files are of two different jobs that end at the same moment",
        "commit/PublishReport.java",
        ("if (hasLostItsList()) {", "if (store == null) {"),
        by="SparkJobTest",
    ),
    defect(
        "last-report-lost",
        "a job that fails does not roll back the last job's _SUCCESS",
        "commit/RollBackJob.java",
        ("    left.addAll(work.report.rollBackLast());\n", ""),
        by="SparkJobFaultTest",
    ),
    defect(
        "old-back-before-new-is-gone",
        "rolling back moves the old data to its place before the new has left it",
        "commit/RollBackPublished.java",
        (
            "    swaps.rollBackPublished(left);\n",
            "    swaps.rollBackAsides(left);\n    swaps.rollBackPublished(left);\n",
        ),
        by="ReaderViewTest",
    ),
    defect(
        "foreign-files-rolled-back",
        "rolling back keeps what another job put into a directory meanwhile",
        "commit/RollBackSwaps.java",
        ("() -> new ReturnForeign(store).run(staged, item.place(), own())", "() -> {}"),
        by="DirectoryPublishingTest",
    ),
    defect(
        "full-directories-deleted",
        "rolling back deletes directories with what other jobs have in them",
        "commit/RemoveEmptyDirectories.java",
        ("store.deleteEmptyDirectory(directory);", "store.deleteTree(directory);"),
        by="SparkJobTest",
    ),
)

STORE = (
    defect(
        "long-names-grow",
        "a name of ours that begins with another name may be longer than filesystems take",
        "store/StorePaths.java",
        ("if (whole.length <= LONGEST_NAME) {", "if (whole.length > 0) {"),
        by="LongNamesTest",
    ),
    defect(
        "full-disk-is-no-failure",
        "the Error by which a local disk says that it is full passes through the store",
        "store/HadoopStore.java",
        ("      throw diskFailed(kind.of(subject), e);", "      throw e;"),
        by="SparkJobFaultTest",
    ),
    defect(
        "foreign-report-unasked",
        "setup does not ask whether the last report may be moved aside",
        "spark/TableRoot.java",
        ("      if (!report.isOwn()) {", "      if (report.isLink()) {"),
        by="SparkJobTest",
    ),
    defect(
        "error-fails-what-is-committed",
        "a job whose cleanup meets an Error fails although it is committed",
        "spark/CleanUpSparkJob.java",
        (
            "      removeAll(Optional.of(commit));\n"
            "    } catch (IOException | RuntimeException | Error e) {\n",
            "      removeAll(Optional.of(commit));\n"
            "    } catch (IOException | RuntimeException e) {\n",
        ),
        by="SparkJobFaultTest",
    ),
    defect(
        "listing-left-open",
        "a listing that ends early keeps the thread that fetches its pages",
        "store/Listing.java",
        ("      RemoteIterators.cleanupRemoteIterator(entries);\n", "      entries = null;\n"),
        by="HadoopStoreTest",
    ),
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
        "store/HadoopStore.java",
        ("if (asked[0] && (exists(destination) || !exists(source))) {", "if (false) {"),
        by="DirectoryRenameTest",
    ),
    defect(
        "etag-not-compared",
        "a file with another etag is taken for the same",
        "manifest/FileIdentity.java",
        ("isKept(etag, other.etag)", "!etag.isEmpty()"),
        by="MemoryAbfsStoreContractTest",
    ),
    defect(
        "length-not-compared",
        "a file of another length is taken for the same",
        "manifest/FileIdentity.java",
        ("length == other.length\n        && (!hasEtags", "(!hasEtags"),
        by="MemoryGsStoreContractTest",
    ),
    defect(
        "local-file-replaced",
        "a rename on a local disk replaces a file",
        "store/LocalStore.java",
        (
            "      Optional<StoreEntry> existing = status(destination);",
            "      Optional<StoreEntry> existing = Optional.empty();",
        ),
        by="LocalStoreContractTest",
    ),
    defect(
        "closed-for-good",
        "a filesystem that somebody else closed stays closed",
        "store/HadoopStore.java",
        ("if (!reopen(used, e)) {", "if (true) {"),
        by="ClosedFileSystemTest",
    ),
)

RECOVERY = (
    defect(
        "journal-names-its-table",
        "journals and notes name the table as their writer calls it",
        "manifest/PlaceText.java",
        ("if (path.equals(table)) {", "if (false) {"),
        (
            ".map(relative -> IN_TABLE + relative)",
            ".map(relative -> PathText.write(canonical))",
        ),
        by="TableNamesTest",
    ),
    defect(
        "note-by-its-writers-name",
        "a location in another job's note is compared by the name that the other job has for it",
        "jobs/ReplaceNote.java",
        (
            "new PlaceText(root.directory(), store::named)",
            "new PlaceText(root.directory(), p -> p)",
        ),
        by="ReplacingJobsTest",
    ),
    defect(
        "location-by-its-own-name",
        "a location by another name of the table's store is taken for one of another store",
        "spark/ManifestCommitProtocol.java",
        (
            "Path resolvedTable = stores.resolve(new Path(table));",
            "Path resolvedTable = new Path(table);",
        ),
        by="ManifestCommitProtocolTest",
    ),
    defect(
        "two-schemes-two-stores",
        "abfs and abfss are two stores",
        "store/AbfsStore.java",
        ("StoreFamily.of(uri.getScheme(), fs().getConf()) == StoreFamily.ABFS", "false"),
        by="StoresTest",
    ),
    defect(
        "node-is-not-its-nameservice",
        "a NameNode by its address is another store than its nameservice",
        "store/NameNodes.java",
        ("if (keys.stream().anyMatch(key -> isAddress(uri, key))) {", "if (false) {"),
        by="NameNodesTest",
    ),
    defect(
        "heartbeat-ignored",
        "a job whose driver lives is recovered",
        "jobs/LifeSigns.java",
        ("pause).get(root) != Life.DEAD) {", "pause).get(root) == null) {"),
        by="RecoverTest",
    ),
    defect(
        "fresh-heartbeat-is-life",
        "the fresh heartbeat of a driver that died a moment ago is taken for life",
        "jobs/LifeSigns.java",
        ("if (now.equals(sign)) {", "if (now.isEmpty()) {"),
        by="UnfinishedJobsTest",
    ),
    defect(
        "dead-at-one-look",
        "a job is dead whose heartbeat did not move until the first look at it",
        "jobs/LifeSigns.java",
        ("return watch.unmoved >= timeout ? Life.DEAD", "return !watch.hasMoved ? Life.DEAD"),
        by="UnfinishedJobsTest",
    ),
    defect(
        "gap-counts-in-full",
        "an observer that stood still takes all others for dead",
        "jobs/LifeSigns.java",
        ("Math.min(time - last, longestGap)", "time - last"),
        by="UnfinishedJobsTest",
    ),
    defect(
        "claim-unwatched",
        "a recovery that has no room for a heartbeat is taken for dead at once",
        "jobs/LifeSigns.java",
        (".filter(CommitJournal::isHeldWithoutHeartbeat)", ".filter(journal -> false)"),
        by="LifeSignsTest",
    ),
    defect(
        "asides-in-reach",
        "who takes a commit over fences what is staged, and not what was moved aside",
        "layout/StagingRoot.java",
        (
            "new Path(allOld(), String.valueOf(holder))",
            "new Path(allOld(), String.valueOf(DRIVER))",
        ),
        by="PairTest",
    ),
    defect(
        "staged-in-reach",
        "who takes a commit over fences what was moved aside, and not what is staged",
        "layout/StagingRoot.java",
        ('holder == DRIVER ? SEALED : SEALED + "-" + holder', "SEALED"),
        by="PairTest",
    ),
    defect(
        "flat-unrevoked",
        "where no directory is renamed, recovery rolls back what its driver may still complete",
        "journal/RenamedJournal.java",
        (
            "if (!isOver && state() == State.PLANNED) {\n      try {",
            "if (!store.traits(directory).hasAtomicDirectoryRename()) {\n"
            "      return state() != State.COMMITTED;\n    }\n"
            "    if (!isOver && state() == State.PLANNED) {\n      try {",
        ),
        by="PairTest",
    ),
    defect(
        "sources-last",
        "where no directory is renamed, recovery looks at the table while the driver may publish",
        "commit/RollBackJob.java",
        ("          keepFromDriver(plan);\n", ""),
        by="PairTest",
    ),
    defect(
        "heartbeat-left-behind",
        "a job that stops and leaves something behind seems to live for a while",
        "spark/CleanUpSparkJob.java",
        (
            "if (!journal.isPresent() || journal.get().isHeld()) {\n"
            "              Heartbeat.remove(store, root.root());",
            "if (!journal.isPresent() || journal.get().isHeld()) {",
        ),
        by="UnfinishedJobsTest",
    ),
    defect(
        "heartbeat-of-the-recovery-removed",
        "a driver that lost its commit to a recovery makes that seem dead",
        "spark/CleanUpSparkJob.java",
        ("if (!journal.isPresent() || journal.get().isHeld()) {", "if (true) {"),
        by="LostClaimTest",
    ),
    defect(
        "heartbeat-in-line",
        "the heartbeat waits in the job's own rate limit",
        "journal/Heartbeat.java",
        ("this.store = store.pastLimits();", "this.store = store;"),
        by="HeartbeatTest",
    ),
    defect(
        "error-ends-heartbeat",
        "an Error in one beat ends all beats, without a word",
        "journal/Heartbeat.java",
        ("} catch (Throwable e) {", "} catch (IOException | RuntimeException e) {"),
        by="HeartbeatTest",
    ),
    defect(
        "silence-ignored",
        "a driver that others may have taken for dead goes on",
        "journal/Heartbeat.java",
        ("    if (isSilent()) {", "    if (false) {"),
        by="SilentDriverTest",
    ),
    defect(
        "silent-driver-keeps-journal",
        "a driver that was silent rolls back without a look who has its journal",
        "spark/CommitSparkJob.java",
        (
            "} else if (!written.revoke()) {",
            "} else if (!setUp.heartbeat.isSilent() && !written.revoke()) {",
        ),
        by="SilentDriverTest",
    ),
    defect(
        "endless-wait",
        "an overwrite waits without end for another one",
        "jobs/ReplacingJobs.java",
        ("if (waited >= config.replaceWait()) {", "if (waited < 0) {"),
        by="ReplacingJobsTest",
    ),
    defect(
        "no-claim",
        "recovery does not take the journal from the driver, which may go on",
        "jobs/Recovery.java",
        ("      journal.claim();\n", ""),
        by="LostClaimTest",
    ),
    defect(
        "lost-claim-ignored",
        "a driver that lost its journal to a recovery rolls back what that recovers",
        "spark/CommitSparkJob.java",
        (
            "      new RollBackJob(work).afterLoss(/* mayBeOwn= */ isFenced, failure);\n",
            "      new RollBackJob(work).afterFailure(plan, failure);\n",
        ),
        by="LostClaimTest",
    ),
    defect(
        "committed-rolled-back",
        "recovery rolls back a commit that is past its point of no return",
        "jobs/Recovery.java",
        (
            "journal.state() == CommitJournal.State.COMMITTED",
            "journal.state() == null",
        ),
        by="CrashTest",
    ),
    defect(
        "reported-rolled-back",
        "recovery rolls back an append whose _SUCCESS is there",
        "jobs/Recovery.java",
        (
            "journal.state() == CommitJournal.State.PLANNED && work.hasReported(plan)",
            "journal.state() == null",
        ),
        by="CrashTest",
    ),
    defect(
        "rolled-back-forward",
        "recovery completes an append that was rolled back, except for its _SUCCESS",
        "jobs/Recovery.java",
        ("journal.state() == CommitJournal.State.PLANNED && work", "work"),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "replaced-report-rolled-back",
        "recovery rolls back an append whose _SUCCESS another job has replaced",
        "commit/CommitWork.java",
        ("report.hasLeft();", "report.isPublished();"),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "no-report-left",
        "what a job without a report never prepared is taken for a report that has left",
        "commit/CommitWork.java",
        ("return plan.marksSuccess() && ", "return "),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "end-unnoted",
        "a job without a report succeeds before its journal says that it came to its end",
        "spark/JobStaging.java",
        ("!plan.replaced().isEmpty() || plan.marksSuccess();", "true;"),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "rollback-unnoted",
        "an append is rolled back after its report was there, and that is not noted first",
        "journal/RenamedJournal.java",
        (
            "        change(State.REVOKED, holder);\n",
            "        requireHeld();\n        return true;\n",
        ),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "back-past-the-mark",
        "a commit is rolled back that may be past its point of no return",
        "journal/RenamedJournal.java",
        ("return state() == State.REVOKED;", "return true;"),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "running-rename-not-awaited",
        "recovery does not wait for a rename of a folder that the store still carries on with",
        "jobs/Recovery.java",
        ("work.awaitRenames(plan, Store.RenamesOf.ANYBODY);", ""),
        by="FolderRecoveryTest",
    ),
    defect(
        "late-renames-first",
        "rolling back removes a file that may still be renamed before all else is back",
        "commit/RollBackPublished.java",
        (
            "return left.isEmpty() ? stopLateRenames(plan, published) : left;",
            "left.addAll(stopLateRenames(plan, published));\n    return left;",
        ),
        by="SparkJobRecoveryTest",
    ),
    defect(
        "stuck-stops-all",
        "a commit whose old data cannot be deleted stops jobs that write elsewhere",
        "jobs/UnfinishedJobs.java",
        ("settled.stuck(root, e);", "throw SettledJobs.cannotBeRecovered(root, e);"),
        by="LeftoverTest",
    ),
    defect(
        "stuck-stops-none",
        "a job writes where an earlier overwrite could not delete the old data",
        "jobs/SettledJobs.java",
        ("if (isAt) {", "if (false) {"),
        by="LeftoverTest",
    ),
    defect(
        "overwritten-since",
        "recovery rolls a place back that another job has overwritten since",
        "commit/RollBackJob.java",
        (
            "          survey.requireNotOverwritten();\n",
            "",
        ),
        by="CrashTest",
    ),
    defect(
        "clean-takes-the-living",
        "clean removes the staging directory of a job that runs",
        "cli/CleanedJob.java",
        ("if (!force && job.state() == StagedJob.State.RUNNING) {", "if (false) {"),
        by="CleanTest",
    ),
    defect(
        "clean-takes-the-unfinished",
        "clean removes what an unfinished commit needs to be recovered",
        "cli/CleanedJob.java",
        ("if (job.hasUnfinishedCommit() && !discardUnfinished) {", "if (false) {"),
        by="CleanTest",
    ),
    defect(
        "kept-directories-stay",
        "empty staging directories that a server keeps make each job slower than the last",
        "jobs/StagingRoots.java",
        ("if (holdsFile[0]) {", "if (true) {"),
        by="KeptDirectoriesTest",
    ),
    defect(
        "planned-uploads-left",
        "clean removes the plan of a dead job, and what it names waits for ever",
        "jobs/AbortPlannedUploads.java",
        ("            Retries.few(() -> store.abortUpload(file));\n", ""),
        by="AbortedUploadsTest",
    ),
    defect(
        "uploads-of-a-begun-commit",
        "clean aborts what a commit that began since it looked may still complete",
        "jobs/AbortPlannedUploads.java",
        ("if (!givesUpCommit) {", "if (false) {"),
        by="AbortedUploadsTest",
    ),
    defect(
        "plan-before-its-uploads",
        "the plan goes before what it names, so that clean cannot be repeated",
        "jobs/StagedJobs.java",
        (
            "      if (job.hasPlan()) {",
            "      Retries.few(() -> store.deleteTree(job.root()));\n      if (job.hasPlan()) {",
        ),
        by="AbortedUploadsTest",
    ),
    defect(
        "discarded-without-renouncing",
        "a commit on S3 is given up, and may still go past its point of no return",
        "jobs/AbortPlannedUploads.java",
        ("|| !journal.revoke()", ""),
        by="AbortedUploadsTest",
    ),
    defect(
        "leftover-fails-a-job",
        "a job fails because what an ended commit left cannot be removed",
        "jobs/UnfinishedJobs.java",
        ("tell(e);\n        return e.outcome() != RecoveryOutcome.CLEANED_UP;", "throw e;"),
        by="LeftoverTest",
    ),
    defect(
        "note-of-an-ended-job",
        "an overwrite waits for the note of a job whose commit has ended",
        "jobs/OtherJobs.java",
        ("&& !hasEnded(other);", ";"),
        by="LeftoverTest",
    ),
    defect(
        "kept-is-removed",
        "what a job was told to leave behind is removed by a later one",
        "jobs/OtherJobs.java",
        ("journal -> journal.state() != CommitJournal.State.KEPT", "journal -> true"),
        by="LeftoverTest",
    ),
    defect(
        "deletable-not-asked",
        "an overwrite finds out past its point of no return that old data cannot be deleted",
        "spark/PlanSparkJob.java",
        ("new RequireDeletable(store, workers).run(old, existing);", ""),
        by="LeftoverTest",
    ),
    defect(
        "late-attempt-leaves-directories",
        "an attempt that aborts after its job leaves the directories that it made",
        "spark/ManifestCommitProtocol.java",
        ("if (hasWritten && !Heartbeat.exists(store, staging)) {", "if (false) {"),
        by="ManifestCommitProtocolTest",
    ),
    defect(
        "mount-below-a-table",
        "a table with another filesystem mounted in it is written to one of the two",
        "store/Stores.java",
        ("if (StorePaths.isBelow(path, mounted)) {", "if (false) {"),
        by="StoresTest",
    ),
    defect(
        "root-without-slash",
        "a place is taken as it was spelled: the root of a store may have an empty path",
        "store/Stores.java",
        (
            "Path qualified = StorePaths.plain(fs.makeQualified(path));",
            "Path qualified = fs.makeQualified(path);",
        ),
        by="SpellingsTest",
    ),
    defect(
        "host-in-capitals",
        "a location by another case of its host does not hold the table that is in it",
        "store/HadoopStore.java",
        ("authority.equalsIgnoreCase(uri.getAuthority())", "authority.equals(uri.getAuthority())"),
        by="SpellingsTest",
    ),
    defect(
        "s3-by-two-schemes",
        "a bucket by s3:// and by s3a:// is two stores",
        "store/S3Store.java",
        (
            "StoreFamily.of(uri.getScheme(), fs().getConf()) == StoreFamily.S3",
            "uri.getScheme().equals(fs().getUri().getScheme())",
        ),
        by="StoresTest",
    ),
    defect(
        "cleanup-once",
        "one failed request in the cleanup leaves the staging directory behind",
        "spark/CleanUpSparkJob.java",
        (
            "Retries.few(() -> store.deleteTree(root.root()));",
            "store.deleteTree(root.root());",
        ),
        by="SparkJobFaultTest",
    ),
    defect(
        "every-mark-read",
        "the marks of custom locations are read also where messages name the locations",
        "spark/LocationMarks.java",
        ("known.forEach(location -> marks.remove(key(texts.write(location))));", ""),
        by="GrowthTest",
    ),
    defect(
        "cut-mark-believed",
        "a mark of a custom location is believed that was cut short",
        "spark/LocationMarks.java",
        ("key.equals(key(text)) && ", ""),
        by="HostileMessagesTest",
    ),
    defect(
        "partition-hidden",
        "a partition whose name begins with an underscore is taken for hidden",
        "layout/HiddenNames.java",
        ("(name.startsWith(\"_\") && name.indexOf('=') < 0)", 'name.startsWith("_")'),
        by="ConflictModeTest",
    ),
    defect(
        "file-not-rolled-back",
        "a failed overwrite of a file deletes it",
        "spark/CleanUpSparkJob.java",
        ("Retries.few(isCommitted ? file::delete : file::putBack);", "Retries.few(file::delete);"),
        by="TableFileTest",
    ),
)

HADOOP_PROTOCOL = (
    defect(
        "second-attempt-loses",
        "a second committed attempt of a task does not replace the first one's manifest",
        "store/Retries.java",
        ("        store.deleteFile(file.destination());\n", ""),
        by="CommitTaskTest",
    ),
    defect(
        "manifest-in-place",
        "a manifest is written under the name by which job commit finds it",
        "commit/CommitTask.java",
        (
            "            paths.temporaryManifest(manifest.taskAttemptId()),\n",
            "            paths.manifest(manifest.taskId()),\n",
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
        "job commit leaves no mark by which it can be repeated or rolled back",
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
        ("      noteDestinations(planner, existing);\n", ""),
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
        "an abort rolls back a job that is committed",
        "commit/RollBackJob.java",
        (
            "fromManifests(manifests, manifests::hasOwnReport);",
            "fromManifests(manifests, () -> false);",
        ),
        by="RepeatedCommitTest",
    ),
    defect(
        "replaced-file-lost",
        "an abort does not roll a replaced file back",
        "commit/RollBackPublished.java",
        ("replaced.rollBack(file.item().destination(), asides);", ""),
        by="RepeatedCommitTest",
    ),
    defect(
        "other-jobs-temporary",
        "cleanup deletes the directories of other jobs in _temporary",
        "commit/CleanupJob.java",
        (
            "store.deleteEmptyDirectory(paths.temporaryDirectory())",
            "store.deleteTree(paths.temporaryDirectory())",
        ),
        by="ManifestCommitterAbortTest",
    ),
    defect(
        "stale-manifests",
        "a job takes over the manifests that another one of its id has left",
        "hadoop/HadoopJob.java",
        (
            "              store.list(paths.manifestDirectory(), this::refuseOldManifest);\n",
            "",
        ),
        by="ManifestCommitterConductTest",
    ),
)

WATCHING = (
    defect(
        "listener-harms-commit",
        "what a listener throws ends the commit",
        "progress/Commits.java",
        ("catch (RuntimeException | LinkageError e)", "catch (ArithmeticException e)"),
        by="CommitsTest",
    ),
    defect(
        "ended-for-ever-running",
        "a commit that ended is shown as one that runs",
        "progress/Commits.java",
        ("    ALL_RUNNING.remove(progress.order());\n", ""),
        by="CommitsTest",
    ),
    defect(
        "bar-leaves-a-trace",
        "the console bar stays where it was",
        "watch/ConsoleBar.java",
        ("    if (!shown.isEmpty()) {", "    if (shown.length() > 1000) {"),
        by="ConsoleBarTest",
    ),
    defect(
        "replaced-as-created",
        "the report counts replaced partitions as new ones",
        "commit/PartitionReport.java",
        ("      return Fate.REPLACED;", "      return Fate.CREATED;"),
        by="WatchedCommitTest",
    ),
    defect(
        "setup-as-commit",
        "a job that gets ready counts as one that ended",
        "progress/Commits.java",
        ("    if (end.kind() != CommitSnapshot.Kind.SETUP) {", "    if (end != null) {"),
        by="CommitsTest",
    ),
    defect(
        "cancel-unheard",
        "a commit that is cancelled goes on until the last moment at which it may fail",
        "commit/Workers.java",
        ("    commit.requireNotCancelled();\n", ""),
        by="WorkersTest",
    ),
    defect(
        "cancel-too-late",
        "a cancel that comes too late is said to roll the commit back",
        "progress/CommitProgress.java",
        ("    isPastCancel = true;", "    isPastCancel = isCancelled;"),
        by="SparkJobTest",
    ),
    defect(
        "cancel-not-by-stop",
        "a commit goes on when its application is stopped",
        "watch/SparkDriver.java",
        ("    commit.cancelWhen(spark.get()::isStopped);\n", ""),
        by="SparkWatchTest",
    ),
)

ALL = {
    "Spark protocol: the plan": PLAN,
    "Publishing and rolling back": PUBLISH,
    "Stores": STORE,
    "Recovery and cleaning": RECOVERY,
    "Hadoop protocol": HADOOP_PROTOCOL,
    "Watching": WATCHING,
}
