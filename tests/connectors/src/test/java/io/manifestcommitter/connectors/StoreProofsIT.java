// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.connectors.EmulatedStore.OwnFileSystems;
import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.emulator.Onto;
import io.manifestcommitter.emulator.RequestLog;
import io.manifestcommitter.proofs.StoreProof;
import io.manifestcommitter.proofs.StoreProof.Verdict;
import io.manifestcommitter.proofs.StoreProofs;
import io.manifestcommitter.store.UnsupportedStoreException;
import java.io.IOException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The questions for real stores, at emulators: of those that behave as documented all answers are
 * good, and each answer that tells of another behaviour does so where an emulator has it.
 */
class StoreProofsIT {
  @Test
  void anAccountWithHierarchicalNamespace() throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      Map<String, StoreProof> proofs = ask(emulator, emulator.root());

      assertNotHeld(proofs);
      assertThat(proofs).hasSize(12);
      assertHeld(proofs, "hierarchical-namespace file-rename file-onto-file file-rivals");
      assertHeld(proofs, "file-identity listings directory-rename directory-missing");
      assertHeld(proofs, "directory-deletion late-writers deleted-file directory-onto-directory");
      assertThat(proofs.get("late-writers").seen).contains("flushed fails", "another fails");
      assertThat(emulator.tree()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void noAnswerToARenameOntoADirectoryLosesFiles(Onto onto) throws Exception {
    accountBreaks(emulator -> emulator.onExistingDirectory(onto));
  }

  @Test
  void anAccountWithoutHierarchicalNamespace() throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      emulator.flat(true);
      Configuration conf = conf(emulator);
      conf.setBoolean("fs.azure.account.hns.enabled", true);

      assertNotHeld(ask(conf, emulator.root()), "hierarchical-namespace");
    }
  }

  /** Hadoop 3.3's driver, and the newer one's call for committers, send it with each rename. */
  @Test
  void anAccountThatReplacesFiles() throws Exception {
    accountBreaks(emulator -> emulator.ignore("If-None-Match"), "file-onto-file", "file-rivals");
  }

  @Test
  void anAccountThatChangesEtags() throws Exception {
    accountBreaks(AbfsEmulator::changeEtags, "file-rename", "directory-rename");
  }

  @Test
  void anAccountWhoseStreamsFollowARename() throws Exception {
    Map<String, StoreProof> proofs = accountBreaks(AbfsEmulator::followRenames, "late-writers");

    assertThat(proofs.get("late-writers").seen).contains("halfhalf");
  }

  @Test
  void anAccountThatMakesDeletedFilesAgain() throws Exception {
    accountBreaks(AbfsEmulator::remakeFiles, "deleted-file");
  }

  @Test
  void aFlatBucket() throws Exception {
    try (GcsEmulator emulator = GcsEmulator.start()) {
      Map<String, StoreProof> proofs = ask(emulator, emulator.root());

      assertNotHeld(proofs);
      assertHeld(proofs, "file-onto-file generation-condition");
      assertThat(proofs).doesNotContainKey("directory-rename").hasSize(6);
      assertThat(emulator.tree()).isEmpty();
    }
  }

  @Test
  void aBucketWithFolders() throws Exception {
    try (GcsEmulator emulator = GcsEmulator.startHierarchical()) {
      Map<String, StoreProof> proofs = ask(emulator, emulator.root());

      assertNotHeld(proofs);
      assertThat(proofs).hasSize(16);
      assertHeld(proofs, "directory-rename directory-missing directory-deletion late-writers");
      assertHeld(proofs, "folder-onto-folder folder-onto-empty folder-rivals empty-folder");
      assertHeld(proofs, "operations-listed");
      assertThat(emulator.tree()).isEmpty();
    }
  }

  /** So that there is time to write while one runs, and nothing is written before it does. */
  @Test
  void whatIsWrittenDuringARenameIsCounted() throws Exception {
    try (GcsEmulator emulator = GcsEmulator.startHierarchical()) {
      emulator.holdRenames();
      FaultRule early = emulator.faults().add(FaultRule.on(FaultRule.ANY).path("late-0$").hold());
      ScheduledExecutorService releases = Executors.newSingleThreadScheduledExecutor();
      ScheduledFuture<?> releasing =
          releases.scheduleWithFixedDelay(
              () -> {
                boolean isRunning =
                    isLogged(emulator, entry -> entry.operation().equals("folder-rename"));
                if (isRunning && !isLogged(emulator, entry -> entry.status() == 429)) {
                  if (early.held() > 0) {
                    early.release();
                  }
                } else {
                  emulator.releaseRenames();
                  emulator.holdRenames();
                }
              },
              500,
              500,
              TimeUnit.MILLISECONDS);
      try {
        Map<String, StoreProof> proofs = ask(emulator, emulator.root());

        assertNotHeld(proofs);
        assertThat(proofs.get("writers-during-rename").verdict).isEqualTo(Verdict.HELD);
        assertThat(proofs.get("writers-during-rename").seen).contains(" 0 at the new one");
        assertThat(releasing.isDone()).isFalse();
      } finally {
        releases.shutdownNow();
        emulator.releaseRenames();
      }
    }
  }

  private static boolean isLogged(GcsEmulator emulator, Predicate<RequestLog.Entry> which) {
    return emulator.log().entries().stream()
        .filter(entry -> entry.path().contains("/writers-during-rename/"))
        .anyMatch(which);
  }

  @Test
  void aBucketThatIgnoresGenerations() throws Exception {
    try (GcsEmulator emulator = GcsEmulator.start()) {
      emulator.ignore("ifGenerationMatch", "ifSourceGenerationMatch");

      assertNotHeld(
          ask(emulator, emulator.root()), "file-onto-file", "file-rivals", "generation-condition");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "NESTS, folder-onto-folder folder-onto-empty folder-rivals",
    "REPLACES_IF_EMPTY, folder-onto-empty"
  })
  void aBucketThatRenamesOntoFolders(Onto onto, String broken) throws Exception {
    try (GcsEmulator emulator = GcsEmulator.startHierarchical()) {
      emulator.onExistingFolder(onto);

      assertNotHeld(ask(emulator, emulator.root()), broken.split(" "));
    }
  }

  /** A right that is missing is no answer. */
  @Test
  void whatMayNotBeAskedHasFailed() throws Exception {
    try (GcsEmulator emulator = GcsEmulator.startHierarchical()) {
      emulator.faults().add(FaultRule.on("operation-list").always().refuse(403));

      Map<String, StoreProof> proofs = ask(emulator, emulator.root());

      assertThat(verdicts(proofs)).containsEntry("operations-listed", Verdict.FAILED);
      assertThat(proofs.get("operations-listed").seen).contains("403");
    }
  }

  @ParameterizedTest
  @CsvSource({"ABFS", "GS"})
  void aStoreWithStaleListings(EmulatedStore store) throws Exception {
    try (Emulator emulator =
        store == EmulatedStore.ABFS ? AbfsEmulator.start() : GcsEmulator.start()) {
      emulator.answerAsBefore("list");

      assertThat(verdicts(ask(emulator, emulator.root())))
          .containsEntry("listings", Verdict.NOT_HELD);
    }
  }

  /** Of the directory that is given, and what leads to it, nothing stays that was not there. */
  @Test
  void whatWasThereStays() throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      Path kept = new Path(emulator.root().toString(), "kept");
      OwnFileSystems.run(() -> kept.getFileSystem(conf(emulator)).mkdirs(kept));

      ask(conf(emulator), URI.create(kept + "/below/deeper"));

      assertThat(emulator.tree()).containsOnlyKeys("/kept/");
    }
  }

  @Test
  void otherStoresHaveNoQuestions() {
    Path local = new Path("file:///tmp");

    assertThatThrownBy(() -> StoreProofs.of(local, new Configuration()))
        .isInstanceOf(UnsupportedStoreException.class)
        .hasMessageContaining("gs");
  }

  private static Map<String, StoreProof> ask(Emulator emulator, URI root)
      throws IOException, InterruptedException {
    return ask(conf(emulator), root.resolve("/scratch"));
  }

  private static Map<String, StoreProof> ask(Configuration conf, URI directory)
      throws IOException, InterruptedException {
    return OwnFileSystems.run(
        () -> {
          Map<String, StoreProof> proofs = new LinkedHashMap<>();
          StoreProofs.of(new Path(directory), conf).run(proof -> proofs.put(proof.name, proof));
          return proofs;
        });
  }

  private static Configuration conf(Emulator emulator) {
    Configuration conf = EmulatedStore.conf(emulator);
    conf.setInt("fs.gs.http.read-timeout", 2000);
    return conf;
  }

  private static Map<String, Verdict> verdicts(Map<String, StoreProof> proofs) {
    return proofs.values().stream()
        .collect(Collectors.toMap(proof -> proof.name, proof -> proof.verdict));
  }

  private static void assertHeld(Map<String, StoreProof> proofs, String names) {
    for (String name : names.split(" ", -1)) {
      assertThat(verdicts(proofs)).containsEntry(name, Verdict.HELD);
    }
  }

  /** What a store is asked that was made to behave in another way; all else is as it should be. */
  private static Map<String, StoreProof> accountBreaks(
      Consumer<AbfsEmulator> behaviour, String... names) throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      behaviour.accept(emulator);
      Map<String, StoreProof> proofs = ask(emulator, emulator.root());
      assertNotHeld(proofs, names);
      return proofs;
    }
  }

  /** All else is as it should be. */
  private static void assertNotHeld(Map<String, StoreProof> proofs, String... names) {
    Map<String, StoreProof> broken = new LinkedHashMap<>(proofs);
    broken.values().removeIf(StoreProof::isFine);
    assertThat(broken.keySet()).as("%s", broken).containsExactlyInAnyOrder(names);
    assertThat(broken.values())
        .allSatisfy(proof -> assertThat(proof.verdict).isEqualTo(Verdict.NOT_HELD));
  }
}
