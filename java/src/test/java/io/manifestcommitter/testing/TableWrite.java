// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * A write and what it makes of a table, by definition. A table is the content of its files, its
 * rows, by path; paths are from the root of the store, or relative to the table, which is then "".
 */
public final class TableWrite {
  private final Replaces replaces;
  private final List<String> named;
  private final NavigableMap<String, String> rows;
  private final Set<String> replaced = new HashSet<>();

  private TableWrite(Replaces replaces, List<String> named, Map<String, String> rows) {
    this.replaces = replaces;
    this.named = named;
    this.rows = new TreeMap<>(rows);
    if (replaces == Replaces.NAMED) {
      replaced.addAll(named);
    } else {
      rows.keySet()
          .forEach(row -> replaced.add(row.substring(0, Math.max(0, row.lastIndexOf('/')))));
    }
  }

  private enum Replaces {
    /** Places that Spark names before the job. */
    NAMED,
    /** What it writes to: dynamic partition overwrite. */
    WHAT_IS_WRITTEN,
    /** The same, by the conflict mode. */
    CONFLICTS
  }

  /** Adds to what is there. */
  public static TableWrite append() {
    return replacing();
  }

  /** Replaces what is below some places: the table, partitions, locations. */
  public static TableWrite replacing(String... places) {
    return new TableWrite(Replaces.NAMED, List.of(places), Map.of());
  }

  /** Replaces every partition that it writes to. */
  public static TableWrite dynamic() {
    return new TableWrite(Replaces.WHAT_IS_WRITTEN, List.of(), Map.of());
  }

  /** Replaces every partition that it writes to, by {@code conflict.mode}. */
  public static TableWrite conflicts() {
    return new TableWrite(Replaces.CONFLICTS, List.of(), Map.of());
  }

  /** As tests call them, of a table that is "", or what else {@code table} says. */
  public static TableWrite of(String kind, String table) {
    return switch (kind) {
      case "append" -> append();
      case "static" -> replacing(table);
      case "partition" -> replacing(table.isEmpty() ? "p=1" : table + "/p=1");
      case "dynamic" -> dynamic();
      case "conflict" -> conflicts();
      default -> throw new IllegalArgumentException(kind);
    };
  }

  /** The same with these rows. */
  public TableWrite with(Map<String, String> newRows) {
    return new TableWrite(replaces, named, newRows);
  }

  /** What it adds. */
  public NavigableMap<String, String> rows() {
    return rows;
  }

  /** What Spark says before the job is to be replaced. */
  public List<String> named() {
    return named;
  }

  public boolean isDynamic() {
    return replaces == Replaces.WHAT_IS_WRITTEN;
  }

  /** Whether it replaces by the conflict mode. */
  public boolean isByConflicts() {
    return replaces == Replaces.CONFLICTS;
  }

  public boolean isAppend() {
    return replaces == Replaces.NAMED && named.isEmpty();
  }

  /** Whether it replaces what is at a path. */
  public boolean replaces(String path) {
    for (int end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (replaced.contains(path.substring(0, end))) {
        return true;
      }
    }
    return replaced.contains("");
  }

  /** What it makes of a table. */
  public NavigableMap<String, String> after(Map<String, String> before) {
    NavigableMap<String, String> after = new TreeMap<>(before);
    after.keySet().removeIf(this::replaces);
    after.putAll(rows);
    return after;
  }
}
