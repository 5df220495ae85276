package io.manifestcommitter.spark;

import java.util.Map;
import java.util.NavigableMap;

/** Who adds rows to a table, or replaces some of it. */
interface PairWriter {
  /** In the names and contents of its rows. */
  String word();

  boolean isAppend();

  /** Whether it replaces what stands at a path. */
  boolean isReplaced(String path);

  /** What it adds, by path. */
  NavigableMap<String, String> rows();

  /** What it makes of a table. */
  NavigableMap<String, String> after(Map<String, String> before);
}
