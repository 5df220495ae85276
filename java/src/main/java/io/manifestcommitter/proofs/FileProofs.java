// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

import io.manifestcommitter.proofs.StoreQuestion.Answer;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What the committer relies on wherever it renames files. */
final class FileProofs {
  private static final int ROUNDS = 10;
  private static final int RIVALS = 8;

  private FileProofs() {}

  static List<StoreQuestion> questions() {
    return List.of(
        new StoreQuestion(
            "file-rename",
            "A rename moves a file unchanged to its new name",
            FileProofs::aRenamedFileIsTheSame),
        new StoreQuestion(
            "file-onto-file",
            "A file is never renamed onto another one",
            FileProofs::aFileIsNotRenamedOntoAnother),
        new StoreQuestion(
            "file-rivals",
            "If " + RIVALS + " files are renamed to one name at the same time, one gets it",
            FileProofs::oneOfManyGetsTheName),
        new StoreQuestion(
            "file-identity",
            "A file that is written again gets another identity",
            FileProofs::aFileThatIsWrittenAgainIsAnother),
        new StoreQuestion(
            "listings",
            "Listings show each write, rename and deletion at once",
            FileProofs::listingsShowEachChangeAtOnce));
  }

  private static Answer aRenamedFileIsTheSame(ProofGround ground) throws IOException {
    ground.write("from/a", "content");
    StoreEntry before = ground.known("from/a");
    ground.mkdirs("to");
    RenameResult result = ground.renameFile(before, "to/a");
    Map<String, String> left = ground.tree("from");
    Map<String, String> moved = ground.tree("to");
    Optional<StoreEntry> after = ground.store().status(ground.at("to/a"));
    boolean isSame = after.filter(entry -> entry.isSameFileAs(before)).isPresent();
    return Answer.holds(
        result.outcome() == RenameResult.Outcome.RENAMED
            && isSame
            && left.isEmpty()
            && moved.equals(Map.of("a", "content")),
        result
            + "; identified by "
            + identity(before)
            + " before and by "
            + after.map(FileProofs::identity).orElse("nothing")
            + " after it; left "
            + left
            + ", moved "
            + moved);
  }

  private static String identity(StoreEntry entry) {
    return entry.length() + " bytes" + (entry.etag().isEmpty() ? "" : ", " + entry.etag());
  }

  private static Answer aFileIsNotRenamedOntoAnother(ProofGround ground) throws IOException {
    ground.write("from/a", "content");
    ground.write("to/a", "another");
    RenameResult result = ground.renameFile(ground.known("from/a"), "to/a");
    Map<String, String> tree = ground.tree("");
    return Answer.holds(
        result.outcome() == RenameResult.Outcome.FAILED
            && tree.equals(Map.of("from/", "", "from/a", "content", "to/", "", "to/a", "another")),
        result + "; then there is " + tree);
  }

  private static Answer oneOfManyGetsTheName(ProofGround ground)
      throws IOException, InterruptedException {
    List<Callable<RenameResult>> renames = new ArrayList<>();
    for (int rival = 0; rival < RIVALS; rival++) {
      ground.write("from/" + rival, "of " + rival);
      StoreEntry file = ground.known("from/" + rival);
      renames.add(() -> ground.renameFile(file, "to/a"));
    }
    ground.mkdirs("to");
    List<RenameResult> results = ground.sideBySide(renames);
    List<Integer> winners =
        IntStream.range(0, RIVALS)
            .filter(rival -> results.get(rival).isDone())
            .boxed()
            .collect(Collectors.toList());
    Map<String, String> got = ground.tree("to");
    int left = ground.tree("from").size();
    return Answer.holds(
        winners.size() == 1
            && got.equals(Map.of("a", "of " + winners.get(0)))
            && left == RIVALS - 1,
        "the renames of "
            + winners
            + " were confirmed; then there is "
            + got
            + ", and "
            + left
            + " are where they were");
  }

  private static Answer aFileThatIsWrittenAgainIsAnother(ProofGround ground) throws IOException {
    ground.write("a", "content");
    StoreEntry first = ground.known("a");
    ground.write("a", "another");
    StoreEntry second = ground.known("a");
    return Answer.holds(
        !first.etag().isEmpty() && !second.isSameFileAs(first),
        "first " + identity(first) + ", then " + identity(second));
  }

  private static Answer listingsShowEachChangeAtOnce(ProofGround ground) throws IOException {
    List<String> stale = new ArrayList<>();
    ground.mkdirs("from");
    ground.mkdirs("to");
    for (int round = 0; round < ROUNDS; round++) {
      String from = "from/" + round;
      String to = "to/" + round;
      ground.write(from, "content " + round);
      Optional<StoreEntry> written = ground.listed(from);
      if (!written.isPresent()) {
        stale.add(from + " was written and not listed");
        continue;
      }
      ground.renameFile(written.get(), to).orThrow("The rename of " + from);
      if (ground.listed(from).isPresent()) {
        stale.add(from + " was renamed and still listed");
      }
      if (!ground.listed(to).isPresent()) {
        stale.add(to + " was renamed and not listed");
      }
      ground.store().deleteFile(ground.at(to));
      if (ground.listed(to).isPresent()) {
        stale.add(to + " was deleted and still listed");
      }
    }
    return Answer.holds(
        stale.isEmpty(), stale.isEmpty() ? ROUNDS + " rounds" : String.join("; ", stale));
  }
}
