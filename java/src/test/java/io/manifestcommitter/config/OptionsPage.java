// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes {@code docs/using/options.md} from what {@link CommitterConfig} reads. */
public final class OptionsPage {
  private OptionsPage() {}

  /** Writes the page, from the project's root. */
  public static void main(String[] args) throws IOException {
    Files.writeString(Path.of("docs", "using", "options.md"), text());
  }

  /** The page. */
  static String text() {
    StringBuilder page = new StringBuilder();
    page.append("<!-- Written by 'make docs' from CommitterConfig. -->\n\n")
        .append("# Options\n\n")
        .append(
            "Most jobs need none of these. Under Spark, set them as `spark.hadoop.<key>`, in the")
        .append(" session (`spark.conf.set(key, …)`), or for one write (`.option(key, …)`). Under")
        .append(" MapReduce, set them in the job's configuration. A value that is not allowed")
        .append(" fails the job before its first task. The error names the key, the value and what")
        .append(" is allowed.\n\n")
        .append(
            "A key that is no option fails the job as well, and the error names the option that")
        .append(
            " was probably meant. So does a key without its prefix, and `spark.hadoop.<key>` set")
        .append(" in a session that runs, where Spark no longer reads it. A key that comes from")
        .append(
            " Hadoop's files, such as `core-site.xml`, is a warning in the log: a newer jar may")
        .append(" know it.\n\n")
        .append("The column *protocol* says who reads an option. *Spark*: Spark SQL and DataFrames")
        .append(" ([binding](binding.md)). *Hadoop*: MapReduce and RDDs")
        .append(" ([Hadoop's factories](mapreduce.md)). An empty default means that nothing is")
        .append(" set. [How a commit goes](how-a-commit-goes.md) explains the words.\n\n")
        .append("| key | default | allowed | protocol | meaning |\n|---|---|---|---|---|\n");
    for (CommitterConfig.Option option : CommitterConfig.options()) {
      page.append("| `").append(option.key).append("` | ");
      page.append(option.fallback.isEmpty() ? "" : "`" + option.fallback + "`").append(" | ");
      page.append(option.allowed()).append(" | ").append(scope(option)).append(" | ");
      page.append(option.meaning()).append(" |\n");
    }
    return page.toString();
  }

  private static String scope(CommitterConfig.Option option) {
    switch (option.scope) {
      case HADOOP:
        return "Hadoop";
      case SPARK:
        return "Spark";
      default:
        return "both";
    }
  }
}
