// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.proofs;

/** What one question to a real store came to. */
public final class StoreProof {
  /** How it ended. */
  public enum Verdict {
    /** The store does what the committer relies on. */
    HELD("as needed"),
    /** It does not: do not commit to this store. */
    NOT_HELD("NOT as needed"),
    /** The store gave no occasion to see it. */
    NOT_SEEN("not seen"),
    /** It could not be asked: a request failed that has nothing to do with the question. */
    FAILED("no answer");

    private final String text;

    Verdict(String text) {
      this.text = text;
    }

    /** As a person reads it. */
    @Override
    public String toString() {
      return text;
    }
  }

  /** Of the question, the same in every run. */
  public final String name;

  /** What was asked, as a sentence without its full stop. */
  public final String statement;

  /** How it ended. */
  public final Verdict verdict;

  /** What the store did. */
  public final String seen;

  StoreProof(String name, String statement, Verdict verdict, String seen) {
    this.name = name;
    this.statement = statement;
    this.verdict = verdict;
    this.seen = seen;
  }

  /** Whether nothing speaks against the store. */
  public boolean isFine() {
    return verdict != Verdict.NOT_HELD && verdict != Verdict.FAILED;
  }

  @Override
  public String toString() {
    return name + ": " + verdict + " (" + seen + ")";
  }

  /** What came of a trial. */
  static final class Answer {
    final Verdict verdict;
    final String seen;

    Answer(Verdict verdict, String seen) {
      this.verdict = verdict;
      this.seen = seen;
    }

    /** Whether what is relied on holds; and what was seen, as {@link String#format}. */
    @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
    Answer(boolean holds, String seen, Object... arguments) {
      this(holds ? Verdict.HELD : Verdict.NOT_HELD, String.format(seen, arguments));
    }
  }
}
