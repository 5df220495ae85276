// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.List;

/** A table in Markdown, the first column of which is text and the others are numbers. */
final class MarkdownTable {
  private final StringBuilder text = new StringBuilder();

  /** A table with these columns. */
  MarkdownTable(List<String> columns) {
    row(columns);
    text.append("|---|").append("---:|".repeat(columns.size() - 1)).append('\n');
  }

  /** Adds a row. */
  void row(List<String> cells) {
    text.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
