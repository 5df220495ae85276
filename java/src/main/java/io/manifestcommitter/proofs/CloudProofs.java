// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

import io.manifestcommitter.proofs.StoreProof.Answer;
import io.manifestcommitter.proofs.StoreProof.Verdict;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;

/** What ADLS Gen2 is asked besides, and Google Cloud Storage by the connector's own client. */
final class CloudProofs {
  static final int RIVALS = 4;

  private static final int FOLDERS = 10;
  private static final int FILES = 5;
  private static final int MOST_LATE = 1_000;

  private CloudProofs() {}

  static Answer isHierarchical(ProofGround ground) throws IOException {
    Optional<String> shortcoming = ground.store.shortcoming(ground.at(""));
    return new Answer(!shortcoming.isPresent(), "%s", shortcoming.orElse("it says so"));
  }

  /** As the report of a driver that lost its commit. */
  static Answer deletedFile(ProofGround ground) throws IOException {
    Store store = ground.store;
    store.create(ground.at("staging/report"));
    boolean isThere = ground.tree("").containsKey("staging/report");
    store.deleteTree(ground.at("staging"));
    byte[] late = "late".getBytes(StandardCharsets.UTF_8);
    String answer =
        FileProofs.outcome(() -> store.fill(ground.at("staging/report"), out -> out.write(late)));
    Map<String, String> tree = ground.tree("");
    return new Answer(
        isThere && tree.isEmpty(),
        "the writer %s; there was %s before, and then there is %s",
        answer,
        isThere ? "the file" : "no file",
        tree);
  }

  /** Some answers are that one goes into the other, others that the rename is refused. */
  static Answer directoryOntoAFullOne(ProofGround ground) throws IOException {
    ground.write("from/a", "a");
    ground.write("to/b", "b");
    // By the driver, which asks the store once, and does not look at both ends.
    String answer = FileProofs.outcome(() -> ground.fs.rename(ground.at("from"), ground.at("to")));
    Map<String, String> tree = ground.tree("");
    return new Answer(
        tree.containsValue("a") && "b".equals(tree.get("to/b")),
        "the rename %s; then there is %s",
        answer,
        tree);
  }

  static Answer oldGeneration(ProofGround ground) throws IOException {
    ground.write("from/a", "content");
    StoreEntry old = ground.known("from/a");
    ground.write("from/a", "another");
    ground.mkdirs("to");
    RenameResult result = ground.renameFile(old, "to/a");
    Map<String, String> left = ground.tree("from");
    return new Answer(
        !result.isDone() && left.equals(Map.of("a", "another")) && ground.tree("to").isEmpty(),
        "%s; at the old name there is %s",
        result,
        left);
  }

  static Answer folderOntoAFullOne(ProofGround ground) throws IOException {
    ground.write("to/b", "b");
    return isRefusedOnto(ground);
  }

  static Answer folderOntoAnEmptyOne(ProofGround ground) throws IOException {
    makeEmptyFolder(ground, "to");
    return isRefusedOnto(ground);
  }

  /** By a rename of all that is in it: then no object stands for it either. */
  private static void makeEmptyFolder(ProofGround ground, String name) throws IOException {
    ground.write(name + "/sub/b", "b");
    ground.renameDirectory(name + "/sub", "moved").orThrow("The rename of a folder");
  }

  private static Answer isRefusedOnto(ProofGround ground) throws IOException {
    ground.write("from/a", "a");
    Map<String, String> before = ground.tree("");
    RenameResult result = ground.renameDirectory("from", "to");
    Map<String, String> after = ground.tree("");
    return new Answer(
        before.containsKey("to/") && !result.isDone() && after.equals(before),
        "%s; before there was %s, and is %s",
        result,
        before.keySet(),
        after.keySet());
  }

  static Answer rivalFolders(ProofGround ground) throws IOException, InterruptedException {
    List<Callable<RenameResult>> renames = new ArrayList<>();
    for (int rival = 0; rival < RIVALS; rival++) {
      String source = "from-" + rival;
      ground.write(source + "/" + rival, "");
      renames.add(() -> ground.renameDirectory(source, "to"));
    }
    long done = ground.sideBySide(renames).stream().filter(RenameResult::isDone).count();
    Map<String, String> all = ground.tree("");
    long files = all.keySet().stream().filter(name -> !name.endsWith("/")).count();
    return new Answer(
        done == 1 && ground.tree("to").size() == 1 && files == RIVALS,
        "%s renames were confirmed; then there is %s",
        done,
        all.keySet());
  }

  static Answer emptyFolder(ProofGround ground) throws IOException {
    makeEmptyFolder(ground, "emptied");
    Map<String, String> tree = ground.tree("");
    boolean isThere = ground.store.status(ground.at("emptied")).isPresent();
    return new Answer(
        isThere == tree.containsKey("emptied/"),
        "%s, and is listed as %s",
        isThere ? "it stays" : "it goes with what was in it",
        tree);
  }

  static Answer runningRenames(ProofGround ground) throws IOException {
    ground.store.awaitRenames(ground.at("any"), /* ofAnybody= */ true);
    return new Answer(true, "they are");
  }

  static Answer writersDuringARename(ProofGround ground) throws IOException, InterruptedException {
    for (int folder = 0; folder < FOLDERS; folder++) {
      for (int file = 0; file < FILES; file++) {
        ground.write("from/p=" + folder + "/" + file, "");
      }
    }
    Map<String, String> old = ground.tree("from");
    List<String> written = new ArrayList<>();
    List<String> refused = new ArrayList<>();
    FutureTask<RenameResult> rename = new FutureTask<>(() -> ground.renameDirectory("from", "to"));
    Callable<RenameResult> writing =
        () -> {
          for (int late = 0; late < MOST_LATE && !rename.isDone(); late++) {
            String name = "p=" + late % FOLDERS + "/late-" + late;
            try {
              ground.write("from/" + name, "late");
              written.add(name);
            } catch (IOException e) {
              refused.add(e.toString());
            }
          }
          return rename.get();
        };
    ground
        .sideBySide(List.of(Executors.callable(rename, null), writing))
        .get(1)
        .orThrow("The rename of a folder");
    Map<String, String> stayed = ground.tree("from");
    Map<String, String> moved = ground.tree("to");
    boolean isComplete =
        moved.entrySet().containsAll(old.entrySet())
            && written.stream()
                .allMatch(name -> stayed.containsKey(name) != moved.containsKey(name));
    return isComplete && written.isEmpty() && refused.isEmpty()
        ? new Answer(Verdict.NOT_SEEN, "the rename was over at once")
        : new Answer(
            isComplete,
            "meanwhile %s files were written and %s failed: %s are at the old name, %s at the new"
                + " one%s",
            written.size(),
            refused.size(),
            late(stayed),
            late(moved),
            refused.isEmpty() ? "" : "; a failure is " + refused.get(0));
  }

  private static long late(Map<String, String> tree) {
    return tree.keySet().stream().filter(name -> name.contains("/late-")).count();
  }
}
