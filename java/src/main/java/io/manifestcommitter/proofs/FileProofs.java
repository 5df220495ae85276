// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

import io.manifestcommitter.proofs.StoreProof.Answer;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;

/** What the committer relies on wherever it renames files, or whole directories. */
final class FileProofs {
  static final int RIVALS = 8;

  private static final int ROUNDS = 10;
  private static final byte[] HALF = "half".getBytes(StandardCharsets.UTF_8);

  private FileProofs() {}

  static Answer rename(ProofGround ground) throws IOException {
    ground.write("from/a", "content");
    StoreEntry before = ground.known("from/a");
    ground.mkdirs("to");
    RenameResult result = ground.renameFile(before, "to/a");
    Map<String, String> left = ground.tree("from");
    Map<String, String> moved = ground.tree("to");
    Optional<StoreEntry> after = ground.store.status(ground.at("to/a"));
    boolean isSame = after.filter(entry -> entry.isSameFileAs(before)).isPresent();
    return new Answer(
        result.outcome() == RenameResult.Outcome.RENAMED
            && isSame
            && left.isEmpty()
            && moved.equals(Map.of("a", "content")),
        "%s; identified by %s before and by %s after it; left %s, moved %s",
        result,
        identity(before),
        after.map(FileProofs::identity).orElse("nothing"),
        left,
        moved);
  }

  private static String identity(StoreEntry entry) {
    return entry.length() + " bytes" + (entry.etag().isEmpty() ? "" : ", " + entry.etag());
  }

  static Answer ontoAnother(ProofGround ground) throws IOException {
    ground.write("from/a", "content");
    ground.write("to/a", "another");
    RenameResult result = ground.renameFile(ground.known("from/a"), "to/a");
    Map<String, String> tree = ground.tree("");
    return new Answer(
        result.outcome() == RenameResult.Outcome.FAILED
            && tree.equals(Map.of("from/", "", "from/a", "content", "to/", "", "to/a", "another")),
        "%s; then there is %s",
        result,
        tree);
  }

  static Answer rivals(ProofGround ground) throws IOException, InterruptedException {
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
    return new Answer(
        winners.size() == 1
            && got.equals(Map.of("a", "of " + winners.get(0)))
            && left == RIVALS - 1,
        "the renames of %s were confirmed; then there is %s, and %s are where they were",
        winners,
        got,
        left);
  }

  static Answer writtenAgain(ProofGround ground) throws IOException {
    ground.write("a", "content");
    StoreEntry first = ground.known("a");
    ground.write("a", "another");
    StoreEntry second = ground.known("a");
    return new Answer(
        !first.etag().isEmpty() && !second.isSameFileAs(first),
        "first %s, then %s",
        identity(first),
        identity(second));
  }

  static Answer listings(ProofGround ground) throws IOException {
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
      ground.store.deleteFile(ground.at(to));
      if (ground.listed(to).isPresent()) {
        stale.add(to + " was deleted and still listed");
      }
    }
    return new Answer(stale.isEmpty(), "%s rounds; %s", ROUNDS, stale);
  }

  static Answer directoryRename(ProofGround ground) throws IOException {
    ground.write("from/p=1/a", "a");
    ground.write("from/p=1/q=1/b", "b");
    ground.write("from/p=2/c", "c");
    ground.mkdirs("from/p=3");
    Map<String, String> before = ground.tree("from");
    StoreEntry file = ground.known("from/p=1/a");
    RenameResult result = ground.renameDirectory("from", "to");
    Map<String, String> after = ground.tree("to");
    Optional<StoreEntry> left = ground.store.status(ground.at("from"));
    boolean isSame = ground.listed("to/p=1/a").filter(file::isSameFileAs).isPresent();
    return new Answer(
        result.outcome() == RenameResult.Outcome.RENAMED
            && after.equals(before)
            && !left.isPresent()
            && isSame,
        "%s; before %s, after %s%s%s",
        result,
        before.keySet(),
        after.keySet(),
        isSame ? "" : "; a file in it has another identity",
        left.isPresent() ? "; the old name is still there" : "");
  }

  static Answer missingDirectory(ProofGround ground) throws IOException {
    RenameResult result = ground.renameDirectory("none", "to");
    Optional<StoreEntry> made = ground.store.status(ground.at("to"));
    return new Answer(!result.isDone() && !made.isPresent(), "%s; then there is %s", result, made);
  }

  static Answer emptyDirectory(ProofGround ground) throws IOException {
    ground.write("full/a", "a");
    ground.mkdirs("empty");
    boolean fullIsGone = ground.store.deleteEmptyDirectory(ground.at("full"));
    boolean emptyIsGone = ground.store.deleteEmptyDirectory(ground.at("empty"));
    Map<String, String> tree = ground.tree("");
    return new Answer(
        !fullIsGone && emptyIsGone && tree.equals(Map.of("full/", "", "full/a", "a")),
        "then there is %s",
        tree);
  }

  /** As an attempt that was given up on, and goes on while its job commits. */
  static Answer lateWriters(ProofGround ground) throws IOException {
    ground.write("output/a", "a");
    FSDataOutputStream flushed = ground.fs.create(ground.at("output/flushed"), true);
    FSDataOutputStream open = ground.fs.create(ground.at("output/open"), true);
    try {
      flushed.write(HALF);
      flushed.hflush();
      open.write(HALF);
      ground.renameDirectory("output", "sealed").orThrow("The rename of the directory");
      Map<String, String> before = ground.tree("sealed");
      String ofFlushed = outcome(() -> writeMore(flushed));
      String ofOpen = outcome(() -> writeMore(open));
      String ofNew = outcome(() -> ground.write("output/late", "late"));
      Map<String, String> after = ground.tree("sealed");
      return new Answer(
          after.equals(before),
          "a stream that was flushed %s, another %s, a new file %s; in the renamed directory there"
              + " was %s and is %s, at its old name there is %s",
          ofFlushed,
          ofOpen,
          ofNew,
          before,
          after,
          ground.tree("output"));
    } finally {
      IOUtils.cleanupWithLogger(null, flushed, open);
    }
  }

  private static void writeMore(FSDataOutputStream out) throws IOException {
    out.write(HALF);
    out.close();
  }

  /** What became of something that a store may refuse. */
  static String outcome(InvocationRaisingIOE action) {
    try {
      action.apply();
      return "goes on";
    } catch (IOException e) {
      return "fails (" + e + ")";
    }
  }
}
