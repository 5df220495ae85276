// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

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
    table.append("| store | `directory.rename` = `auto` | `off` |\n|---|---|---|\n");
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
    switch (scheme) {
      case "mem":
        return "a scheme in `atomic.rename.schemes`";
      case MemoryFileSystem.GS_FOLDERS:
        return "`gs`, a bucket with hierarchical namespace";
      default:
        return "`" + scheme + "`";
    }
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
}
