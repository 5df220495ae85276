// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.net.URI;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.Path;

/**
 * Paths as they stand in what one process keeps in a table and another one reads. Those in the
 * table are relative to it, so that the table is the same under every name, and after it was
 * renamed:
 *
 * <pre>
 * .                      the table
 * ./p=1/part-0           in the table; nothing is encoded
 * abfs://c@a/elsewhere   outside of it: in full, as {@link PathText} has it
 * </pre>
 */
public final class PlaceText {
  private static final String TABLE = ".";
  private static final String IN_TABLE = "./";

  private final Path table;
  private final UnaryOperator<Path> naming;

  /**
   * The texts of one table's paths.
   *
   * @param table by the name by which this process calls it
   * @param naming gives a path outside of the table the name by which this process calls its store
   */
  public PlaceText(Path table, UnaryOperator<Path> naming) {
    this.table = Objects.requireNonNull(table);
    this.naming = Objects.requireNonNull(naming);
  }

  /**
   * The text of a path.
   *
   * @throws IllegalArgumentException if it has a component that is empty, {@code .} or {@code ..},
   *     or cannot be written as UTF-8
   */
  public String write(Path path) {
    if (path.equals(table)) {
      return TABLE;
    }
    Path canonical = PathText.canonical(path);
    return PathText.below(table, canonical)
        .map(relative -> IN_TABLE + relative)
        .orElseGet(() -> PathText.write(canonical));
  }

  /**
   * The path that a text stands for, in this process.
   *
   * @throws IllegalArgumentException if it is none, or leads elsewhere than it says
   */
  public Path read(String text) {
    if (text.equals(TABLE)) {
      return table;
    }
    if (text.startsWith(IN_TABLE)) {
      URI uri = table.toUri();
      return PathText.canonical(
          uri.getScheme(),
          uri.getAuthority(),
          PathText.prefix(table) + text.substring(IN_TABLE.length()),
          text);
    }
    return naming.apply(PathText.read(text));
  }
}
