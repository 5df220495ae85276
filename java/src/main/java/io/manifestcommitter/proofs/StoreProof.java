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

  private final String name;
  private final String statement;
  private final Verdict verdict;
  private final String seen;

  StoreProof(String name, String statement, Verdict verdict, String seen) {
    this.name = name;
    this.statement = statement;
    this.verdict = verdict;
    this.seen = seen;
  }

  /** Of the question, the same in every run. */
  public String name() {
    return name;
  }

  /** What was asked, as a sentence without its full stop. */
  public String statement() {
    return statement;
  }

  /** How it ended. */
  public Verdict verdict() {
    return verdict;
  }

  /** What the store did. */
  public String seen() {
    return seen;
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

    private Answer(Verdict verdict, String seen) {
      this.verdict = verdict;
      this.seen = seen;
    }

    /** Whether what is relied on holds; and what was seen, as {@link String#format}. */
    @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
    Answer(boolean holds, String seen, Object... arguments) {
      this(holds ? Verdict.HELD : Verdict.NOT_HELD, String.format(seen, arguments));
    }

    /** A request failed, which has nothing to do with the question. */
    static Answer failed(Exception failure) {
      return new Answer(Verdict.FAILED, failure.toString());
    }

    /** There was no occasion. */
    static Answer notSeen(String why) {
      return new Answer(Verdict.NOT_SEEN, why);
    }
  }
}
