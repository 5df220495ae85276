// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

import io.manifestcommitter.proofs.StoreQuestion.Answer;
import io.manifestcommitter.store.AbfsStore;
import java.io.IOException;
import java.util.ArrayList;
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
    questions.add(
        new StoreQuestion(
            "directory-onto-directory",
            "What happens to a directory that is renamed onto one with files",
            AbfsProofs::ontoAFullOne));
    questions.add(
        new StoreQuestion(
            "directory-onto-empty",
            "What happens to a directory that is renamed onto an empty one",
            AbfsProofs::ontoAnEmptyOne));
    questions.add(
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
    ground.store().mkdirs(ground.at("to"));
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
