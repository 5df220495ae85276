// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import java.util.Collection;
import java.util.Optional;

/**
 * What a reader that lists one place of a table now finds there: how much of its old files, and how
 * much of what a job writes to it. Names and meanings are those of {@code docs/using/readers.md}.
 */
enum ReaderView {
  OLD("all old files, no new one"),
  ABSENT("no file"),
  NEW("all new files, no old one"),
  SOME_OLD("a part of the old files, no new one"),
  SOME_NEW("no old file, a part of the new ones"),
  OLD_AND_SOME_NEW("all old files, a part of the new ones"),
  OLD_AND_NEW("all old files and all new ones"),
  NEW_AND_SOME_OLD("all new files, a part of the old ones");

  private final String meaning;

  ReaderView(String meaning) {
    this.meaning = meaning;
  }

  /** The text of the page. */
  String meaning() {
    return meaning;
  }

  /**
   * The view that has these files.
   *
   * @param old what stood at the place before the job
   * @param fresh what the job writes to it
   * @return empty for a mixture that has no name
   */
  static Optional<ReaderView> of(
      Collection<String> old, Collection<String> fresh, Collection<String> seen) {
    Part ofOld = Part.of(old, seen);
    Part ofNew = Part.of(fresh, seen);
    if (ofOld == Part.NONE) {
      return Optional.of(ofNew == Part.NONE ? ABSENT : ofNew == Part.SOME ? SOME_NEW : NEW);
    }
    if (ofNew == Part.NONE) {
      return Optional.of(ofOld == Part.ALL ? OLD : SOME_OLD);
    }
    if (ofOld == Part.ALL) {
      return Optional.of(ofNew == Part.ALL ? OLD_AND_NEW : OLD_AND_SOME_NEW);
    }
    return ofNew == Part.ALL ? Optional.of(NEW_AND_SOME_OLD) : Optional.empty();
  }

  private enum Part {
    NONE,
    SOME,
    ALL;

    static Part of(Collection<String> files, Collection<String> seen) {
      long found = files.stream().filter(seen::contains).count();
      return found == 0 ? NONE : found == files.size() ? ALL : SOME;
    }
  }
}
