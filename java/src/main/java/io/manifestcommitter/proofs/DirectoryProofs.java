// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

import io.manifestcommitter.proofs.StoreQuestion.Answer;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.IOUtils;

/** What the committer relies on where it renames whole directories. */
final class DirectoryProofs {
  private static final byte[] HALF = "half".getBytes(StandardCharsets.UTF_8);

  private DirectoryProofs() {}

  static List<StoreQuestion> questions() {
    return List.of(
        new StoreQuestion(
            "directory-rename",
            "A rename moves a directory to its new name, with all that is in it",
            DirectoryProofs::aRenamedDirectoryIsTheSame),
        new StoreQuestion(
            "directory-missing",
            "The rename of a missing directory is refused",
            DirectoryProofs::nothingIsNotRenamed),
        new StoreQuestion(
            "directory-deletion",
            "A directory that holds something is not deleted as an empty one",
            DirectoryProofs::onlyAnEmptyDirectoryGoes),
        new StoreQuestion(
            "late-writers",
            "Nobody adds to a renamed directory through its old name",
            DirectoryProofs::lateWritersStayOutside));
  }

  private static Answer aRenamedDirectoryIsTheSame(ProofGround ground) throws IOException {
    ground.write("from/p=1/a", "a");
    ground.write("from/p=1/q=1/b", "b");
    ground.write("from/p=2/c", "c");
    ground.mkdirs("from/p=3");
    Map<String, String> before = ground.tree("from");
    StoreEntry file = ground.known("from/p=1/a");
    RenameResult result = ground.renameDirectory("from", "to");
    Map<String, String> after = ground.tree("to");
    Optional<StoreEntry> left = ground.store().status(ground.at("from"));
    boolean isSame = ground.listed("to/p=1/a").filter(file::isSameFileAs).isPresent();
    return Answer.holds(
        result.outcome() == RenameResult.Outcome.RENAMED
            && after.equals(before)
            && !left.isPresent()
            && isSame,
        result
            + "; before "
            + before.keySet()
            + ", after "
            + after.keySet()
            + (isSame ? "" : "; a file in it has another identity")
            + (left.isPresent() ? "; the old name is still there" : ""));
  }

  private static Answer nothingIsNotRenamed(ProofGround ground) throws IOException {
    RenameResult result = ground.renameDirectory("none", "to");
    Optional<StoreEntry> made = ground.store().status(ground.at("to"));
    return Answer.holds(!result.isDone() && !made.isPresent(), result + "; then there is " + made);
  }

  private static Answer onlyAnEmptyDirectoryGoes(ProofGround ground) throws IOException {
    ground.write("full/a", "a");
    ground.mkdirs("empty");
    boolean fullIsGone = ground.store().deleteEmptyDirectory(ground.at("full"));
    boolean emptyIsGone = ground.store().deleteEmptyDirectory(ground.at("empty"));
    Map<String, String> tree = ground.tree("");
    return Answer.holds(
        !fullIsGone && emptyIsGone && tree.equals(Map.of("full/", "", "full/a", "a")),
        "then there is " + tree);
  }

  /** As an attempt that was given up on, and goes on while its job commits. */
  private static Answer lateWritersStayOutside(ProofGround ground) throws IOException {
    ground.write("output/a", "a");
    FSDataOutputStream flushed = ground.fs().create(ground.at("output/flushed"), true);
    FSDataOutputStream open = ground.fs().create(ground.at("output/open"), true);
    try {
      flushed.write(HALF);
      flushed.hflush();
      open.write(HALF);
      ground.renameDirectory("output", "sealed").orThrow("The rename of the directory");
      Map<String, String> before = ground.tree("sealed");
      String streams = "a stream that was flushed " + goesOn(flushed) + ", another " + goesOn(open);
      String file = "is written";
      try {
        ground.write("output/late", "late");
      } catch (IOException e) {
        file = "fails (" + e + ")";
      }
      Map<String, String> after = ground.tree("sealed");
      return Answer.holds(
          after.equals(before),
          String.format(
              "%s, a new file %s; in the renamed directory there was %s and is %s, at its old name"
                  + " there is %s",
              streams, file, before, after, ground.tree("output")));
    } finally {
      IOUtils.cleanupWithLogger(null, flushed, open);
    }
  }

  private static String goesOn(FSDataOutputStream out) {
    try {
      out.write(HALF);
      out.close();
      return "goes on";
    } catch (IOException e) {
      return "fails (" + e + ")";
    }
  }
}
