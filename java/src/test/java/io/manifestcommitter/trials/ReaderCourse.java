// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static io.manifestcommitter.trials.ReaderView.ABSENT;
import static io.manifestcommitter.trials.ReaderView.NEW;
import static io.manifestcommitter.trials.ReaderView.NEW_AND_SOME_OLD;
import static io.manifestcommitter.trials.ReaderView.OLD;
import static io.manifestcommitter.trials.ReaderView.OLD_AND_NEW;
import static io.manifestcommitter.trials.ReaderView.OLD_AND_SOME_NEW;
import static io.manifestcommitter.trials.ReaderView.SOME_NEW;
import static io.manifestcommitter.trials.ReaderView.SOME_OLD;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The views of one place that a job commit goes through, in their order: forward while it succeeds,
 * back to the first when it is rolled back. Names are those of {@code docs/using/readers.md}.
 */
enum ReaderCourse {
  STAYS(OLD),
  APPEARS(ABSENT, NEW),
  FILLS(ABSENT, SOME_NEW, NEW),
  GROWS(OLD, OLD_AND_SOME_NEW, OLD_AND_NEW),
  SWAPS(OLD, ABSENT, NEW),
  /** A swap whose new directory the store does not rename. */
  SWAPS_AND_FILLS(OLD, ABSENT, SOME_NEW, NEW),
  TURNS_OVER(OLD, OLD_AND_SOME_NEW, OLD_AND_NEW, NEW_AND_SOME_OLD, NEW),
  EMPTIES_AND_FILLS(OLD, SOME_OLD, ABSENT, SOME_NEW, NEW),
  VANISHES(OLD, ABSENT),
  EMPTIES(OLD, SOME_OLD, ABSENT);

  private static final String ARROW = " → ";

  private final String names;

  ReaderCourse(ReaderView... views) {
    names = Arrays.stream(views).map(ReaderView::name).collect(Collectors.joining(ARROW));
  }

  List<ReaderView> views() {
    return Arrays.stream(names.split(ARROW)).map(ReaderView::valueOf).collect(Collectors.toList());
  }

  ReaderView first() {
    return views().get(0);
  }

  ReaderView last() {
    return views().get(views().size() - 1);
  }

  /** As the page has it: "turns over". */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** As the page has it: "`OLD` → `ABSENT` → `NEW`". */
  String path() {
    return "`" + names.replace(ARROW, "`" + ARROW + "`") + "`";
  }
}
