// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

import io.manifestcommitter.proofs.StoreQuestion.Answer;
import io.manifestcommitter.store.AbfsStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What ADLS Gen2 is asked besides: the committer is safe with each answer to the open ones. */
final class AbfsProofs {
  private AbfsProofs() {}

  static List<StoreQuestion> questions(AbfsStore store) {
    List<StoreQuestion> questions = new ArrayList<>();
    questions.add(
        new StoreQuestion(
            "hierarchical-namespace",
            "The account has a hierarchical namespace",
            ground -> isHierarchical(store, ground)));
    questions.addAll(DirectoryProofs.questions());
    Collections.addAll(
        questions,
        new StoreQuestion(
            "deleted-file",
            "A file that was deleted before its content came stays deleted",
            AbfsProofs::aDeletedFileIsNotFilled),
        new StoreQuestion(
            "directory-onto-directory",
            "What happens to a directory that is renamed onto one with files",
            AbfsProofs::ontoAFullOne),
        new StoreQuestion(
            "directory-onto-empty",
            "What happens to a directory that is renamed onto an empty one",
            AbfsProofs::ontoAnEmptyOne),
        new StoreQuestion(
            "parent-missing",
            "What happens to a directory that is renamed to a place without a parent",
            AbfsProofs::withoutParent));
    return questions;
  }

  private static Answer isHierarchical(AbfsStore store, ProofGround ground) throws IOException {
    Optional<String> shortcoming = store.shortcoming(ground.at(""));
    return Answer.holds(!shortcoming.isPresent(), shortcoming.orElse("it says so"));
  }

  /** As the report of a driver that lost its commit. */
  private static Answer aDeletedFileIsNotFilled(ProofGround ground) throws IOException {
    ground.store().create(ground.at("staging/report"));
    boolean isThere = ground.tree("").containsKey("staging/report");
    ground.store().deleteTree(ground.at("staging"));
    String answer;
    try {
      boolean isFilled =
          ground
              .store()
              .fill(
                  ground.at("staging/report"),
                  out -> out.write("late".getBytes(StandardCharsets.UTF_8)));
      answer = isFilled ? "the writer goes on" : "the writer fails";
    } catch (FileNotFoundException e) {
      answer = "the writer fails (" + e + ")";
    }
    Map<String, String> tree = ground.tree("");
    return Answer.holds(
        isThere && tree.isEmpty(),
        answer
            + "; there was "
            + (isThere ? "the file" : "no file")
            + " before, and then there is "
            + tree);
  }

  private static Answer ontoAFullOne(ProofGround ground) throws IOException {
    ground.write("from/a", "a");
    ground.write("to/b", "b");
    String answer = renamed(ground, "from", "to");
    Map<String, String> tree = ground.tree("");
    return tree.containsValue("a") && "b".equals(tree.get("to/b"))
        ? Answer.found(answer + told(tree))
        : Answer.holds(false, answer + "; files are lost: there is " + tree);
  }

  private static Answer ontoAnEmptyOne(ProofGround ground) throws IOException {
    ground.write("from/a", "a");
    ground.mkdirs("to");
    String answer = renamed(ground, "from", "to");
    return Answer.found(answer + told(ground.tree("")));
  }

  private static Answer withoutParent(ProofGround ground) throws IOException {
    ground.write("from/a", "a");
    String answer = renamed(ground, "from", "none/to");
    return Answer.found(answer + told(ground.tree("")));
  }

  /** By the driver, which asks the store once, and does not look at both ends. */
  private static String renamed(ProofGround ground, String source, String destination) {
    try {
      return "answered " + ground.fs().rename(ground.at(source), ground.at(destination));
    } catch (IOException e) {
      return "refused (" + e + ")";
    }
  }

  private static String told(Map<String, String> tree) {
    if (tree.containsKey("from/a")) {
      return ": it is not renamed";
    }
    if (tree.containsKey("to/from/a")) {
      return ": it goes into the other one";
    }
    return (tree.containsKey("to/a") ? ": it takes the other one's place: " : ": then there is ")
        + tree.keySet();
  }
}
