// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import static io.manifestcommitter.trials.ReaderPage.ReaderView.ABSENT;
import static io.manifestcommitter.trials.ReaderPage.ReaderView.NEW;
import static io.manifestcommitter.trials.ReaderPage.ReaderView.NEW_AND_SOME_OLD;
import static io.manifestcommitter.trials.ReaderPage.ReaderView.OLD;
import static io.manifestcommitter.trials.ReaderPage.ReaderView.OLD_AND_NEW;
import static io.manifestcommitter.trials.ReaderPage.ReaderView.OLD_AND_SOME_NEW;
import static io.manifestcommitter.trials.ReaderPage.ReaderView.SOME_NEW;
import static io.manifestcommitter.trials.ReaderPage.ReaderView.SOME_OLD;

import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.trials.ReaderWrite.ReaderPlace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The tables of {@code docs/using/readers.md} that the tests hold the committer to. */
final class ReaderPage {
  private ReaderPage() {}

  /** The page. */
  static String text() throws IOException {
    return Files.readString(Path.of("docs", "using", "readers.md"));
  }

  /** Prints the tables, for whoever changes one. */
  public static void main(String[] args) {
    System.out.println(String.join("\n", List.of(ways(), views(), courses(), writes())));
  }

  /** Which stores are published in which way. */
  static String ways() {
    StringBuilder table = new StringBuilder();
    table.append(
        "| store | `mapreduce.manifest.committer.directory.rename` = `auto` | `off` |\n|---|---|---|\n");
    for (String scheme : ReaderWay.SCHEMES) {
      table
          .append("| ")
          .append(label(scheme))
          .append(" | ")
          .append(ReaderWay.of(scheme, "auto").label())
          .append(" | ")
          .append(ReaderWay.of(scheme, "off").label())
          .append(" |\n");
    }
    return table.toString();
  }

  private static String label(String scheme) {
    return switch (scheme) {
      case "mem" -> "a scheme in `mapreduce.manifest.committer.atomic.rename.schemes`";
      case MemoryFileSystem.GS_FOLDERS -> "`gs`, a bucket with hierarchical namespace";
      default -> "`" + scheme + "`";
    };
  }

  /** What a view shows. */
  static String views() {
    StringBuilder table = new StringBuilder("| view | a listing shows |\n|---|---|\n");
    for (ReaderView view : ReaderView.values()) {
      table.append("| `").append(view).append("` | ").append(view.meaning()).append(" |\n");
    }
    return table.toString();
  }

  /** Which views follow one another. */
  static String courses() {
    StringBuilder table = new StringBuilder("| course | its views |\n|---|---|\n");
    for (ReaderCourse course : ReaderCourse.values()) {
      table.append("| ").append(course.label()).append(" | ").append(course.path()).append(" |\n");
    }
    return table.toString();
  }

  /** Which course each place takes in each kind of write. */
  static String writes() {
    Set<String> rows = new LinkedHashSet<>();
    for (ReaderWrite write : ReaderWrite.ALL) {
      for (ReaderPlace place : write.places()) {
        rows.add(
            String.join(
                    " | ",
                    "| " + write.label(),
                    place.label(),
                    place.course(ReaderWay.WHOLE_DIRECTORIES).label(),
                    place.course(ReaderWay.FILE_BY_FILE).label())
                + " |\n");
      }
    }
    return "| write | place | whole directories | file by file |\n|---|---|---|---|\n"
        + String.join("", rows);
  }

  /**
   * The views of one place that a job commit goes through, in their order: forward while it
   * succeeds, back to the first when it is rolled back. Names are those of {@code
   * docs/using/readers.md}.
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
      return Arrays.stream(names.split(ARROW)).map(ReaderView::valueOf).toList();
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

  /**
   * What a reader that lists one place of a table now finds there: how much of its old files, and
   * how much of what a job writes to it. Names and meanings are those of {@code
   * docs/using/readers.md}.
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

  /** How a store's tables are published. */
  enum ReaderWay {
    WHOLE_DIRECTORIES("whole directories"),
    /** Where a file can go to a directory that was taken away, no old file moves aside. */
    OLD_FILES_LAST("whole directories, old files last"),
    FILE_BY_FILE("file by file");

    /** The schemes of the page, and one that stands for all others. */
    static final List<String> SCHEMES =
        List.of("abfs", "abfss", "hdfs", "file", "gs", "gs-folders", "s3a", "mem");

    private static final List<String> ATOMIC =
        List.of("abfs", "abfss", "hdfs", "file", "gs-folders", "mem");

    private final String label;

    ReaderWay(String label) {
      this.label = label;
    }

    /**
     * The way of a store.
     *
     * @param directoryRename the value of {@code mapreduce.manifest.committer.directory.rename}
     */
    static ReaderWay of(String scheme, String directoryRename) {
      if (!directoryRename.equals("auto") || !ATOMIC.contains(scheme)) {
        return FILE_BY_FILE;
      }
      return scheme.equals("gs-folders") ? OLD_FILES_LAST : WHOLE_DIRECTORIES;
    }

    /** As the page has it. */
    String label() {
      return label;
    }
  }
}
