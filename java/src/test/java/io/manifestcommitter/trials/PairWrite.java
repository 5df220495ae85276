// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.testing.SparkGround;
import io.manifestcommitter.testing.TableWrite;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * A kind of write beside another one. The rows of a writer have its word in their names and
 * contents.
 */
enum PairWrite {
  APPEND("append", "append", "p=1/1", "p=1/2", "p=2/1"),
  APPEND_ELSEWHERE("append elsewhere", "append", "p=3/1", "p=3/2"),
  APPEND_NEW("append, new partitions", "append", "p=8/1", "p=9/q=1/1", "p=9/q=2/1"),
  APPEND_ANYWHERE("append anywhere", "append", "p=1/1", "p=8/1", "/elsewhere/1/1"),
  APPEND_ROOT("append, no partitions", "append", "1", "2"),
  APPEND_LOCATION("append, location", "append", "/elsewhere/1/1", "/elsewhere/1/2"),
  DYNAMIC("dynamic", "dynamic", "p=1/1", "p=1/2", "p=2/1"),
  DYNAMIC_OVERLAPPING("dynamic, overlapping", "dynamic", "p=2/1", "p=3/1"),
  DYNAMIC_ELSEWHERE("dynamic elsewhere", "dynamic", "p=3/1", "p=4/1"),
  DYNAMIC_NEW("dynamic, new partitions", "dynamic", "p=8/1", "p=9/q=1/1"),
  DYNAMIC_SAME("dynamic, an old name", "dynamic", "p=1/old1", "p=1/1", "p=8/1"),
  DYNAMIC_LOCATION("dynamic, location", "dynamic", "/elsewhere/1/1", "p=1/1"),
  STATIC("static", "static", "p=1/1", "p=1/2", "p=8/1"),
  STATIC_ROOT("static, no partitions", "static", "1", "2"),
  STATIC_ROOT_SAME("static, no partitions, an old name", "static", "old1", "1"),
  PARTITION("partition", "partition", "p=1/1", "p=1/2"),
  REPLACE("conflict.mode=replace", "conflict", "p=1/1", "p=8/1");

  private static final List<String> OLD =
      List.of("p=1/old1", "p=1/old2", "p=2/old1", "p=3/old1", "/elsewhere/1/old1");

  private final String label;
  private final String kind;
  private final String names;

  PairWrite(String label, String kind, String... names) {
    this.label = label;
    this.kind = kind;
    this.names = String.join(" ", names);
  }

  /** As the table of the page has it. */
  String label() {
    return label;
  }

  boolean isAppend() {
    return kind.equals("append");
  }

  /** Whether the table has no partitions. */
  boolean isRoot() {
    return names.indexOf('/') < 0;
  }

  /** Whether a writer "a" gives a file the name of an old one. */
  boolean hasOldNames() {
    return names.contains("old");
  }

  /** The table before. */
  NavigableMap<String, String> old() {
    return rows(isRoot() ? List.of("old1", "old2") : OLD, hasOldNames() ? "-a" : "", "old");
  }

  /** What a writer with a word does. */
  TableWrite by(String word) {
    return TableWrite.of(kind, SparkGround.TABLE)
        .with(rows(List.of(names.split(" ", -1)), "-" + word, word));
  }

  private static NavigableMap<String, String> rows(List<String> names, String end, String word) {
    NavigableMap<String, String> rows = new TreeMap<>();
    for (String name : names) {
      String path = (name.startsWith("/") ? name : SparkGround.TABLE + "/" + name) + end;
      rows.put(path, word + " " + path);
    }
    return rows;
  }
}
