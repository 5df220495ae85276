// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

import java.io.IOException;
import java.util.Objects;

/** Something that a real store is asked, by trying it. */
final class StoreQuestion {
  private final String name;
  private final String statement;
  private final Trial trial;

  /**
   * A question.
   *
   * @param name of it, the same in every run
   * @param statement what is asked, as a sentence without its full stop
   */
  StoreQuestion(String name, String statement, Trial trial) {
    this.name = Objects.requireNonNull(name);
    this.statement = Objects.requireNonNull(statement);
    this.trial = Objects.requireNonNull(trial);
  }

  /** The name of the question, and of the directory in which it is tried. */
  String name() {
    return name;
  }

  /** Tries it in a directory of its own. A failure is an answer, too. */
  StoreProof ask(ProofGround ground) throws InterruptedException {
    Answer answer;
    try {
      answer = trial.run(ground);
    } catch (IOException | RuntimeException e) {
      answer = new Answer(StoreProof.Verdict.FAILED, e.toString());
    }
    // Names below the directory say enough.
    String seen = answer.seen.replace(ground.at("") + "/", "");
    return new StoreProof(name, statement, answer.verdict, seen);
  }

  /** What is tried. */
  interface Trial {
    /**
     * Tries it.
     *
     * @throws IOException if a request fails that has nothing to do with the question
     */
    Answer run(ProofGround ground) throws IOException, InterruptedException;
  }

  /** What came of it. */
  static final class Answer {
    private final StoreProof.Verdict verdict;
    private final String seen;

    private Answer(StoreProof.Verdict verdict, String seen) {
      this.verdict = verdict;
      this.seen = seen;
    }

    /** What is relied on holds, or does not. */
    static Answer holds(boolean holds, String seen) {
      return new Answer(holds ? StoreProof.Verdict.HELD : StoreProof.Verdict.NOT_HELD, seen);
    }

    /** Nothing is relied on. */
    static Answer found(String seen) {
      return new Answer(StoreProof.Verdict.FOUND, seen);
    }

    /** There was no occasion. */
    static Answer notSeen(String why) {
      return new Answer(StoreProof.Verdict.NOT_SEEN, why);
    }
  }
}
