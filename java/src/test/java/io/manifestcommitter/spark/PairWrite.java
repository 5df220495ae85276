package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;

/**
 * A kind of write beside another one, and what it makes of a table by definition. The rows of a
 * writer have its word in their names and contents.
 */
enum PairWrite {
  APPEND("append", Replaces.NOTHING, "p=1/1", "p=1/2", "p=2/1"),
  APPEND_ELSEWHERE("append elsewhere", Replaces.NOTHING, "p=3/1", "p=3/2"),
  APPEND_NEW("append, new partitions", Replaces.NOTHING, "p=8/1", "p=9/q=1/1", "p=9/q=2/1"),
  APPEND_ROOT("append, no partitions", Replaces.NOTHING, "1", "2"),
  APPEND_LOCATION("append, location", Replaces.NOTHING, "/elsewhere/1/1", "/elsewhere/1/2"),
  DYNAMIC("dynamic", Replaces.WHAT_IS_WRITTEN, "p=1/1", "p=1/2", "p=2/1"),
  DYNAMIC_OVERLAPPING("dynamic, overlapping", Replaces.WHAT_IS_WRITTEN, "p=2/1", "p=3/1"),
  DYNAMIC_ELSEWHERE("dynamic elsewhere", Replaces.WHAT_IS_WRITTEN, "p=3/1", "p=4/1"),
  DYNAMIC_NEW("dynamic, new partitions", Replaces.WHAT_IS_WRITTEN, "p=8/1", "p=9/q=1/1"),
  DYNAMIC_LOCATION("dynamic, location", Replaces.WHAT_IS_WRITTEN, "/elsewhere/1/1", "p=1/1"),
  STATIC("static", Replaces.TABLE, "p=1/1", "p=1/2", "p=8/1"),
  STATIC_ROOT("static, no partitions", Replaces.TABLE, "1", "2"),
  PARTITION("partition", Replaces.FIRST_PARTITION, "p=1/1", "p=1/2"),
  REPLACE("conflict.mode=replace", Replaces.CONFLICTS, "p=1/1", "p=8/1");

  private static final List<String> OLD =
      List.of("p=1/old1", "p=1/old2", "p=2/old1", "p=3/old1", "/elsewhere/1/old1");
  private static final List<String> OLD_ROOT = List.of("old1", "old2");

  private final String label;
  private final Replaces replaces;
  private final String names;

  PairWrite(String label, Replaces replaces, String... names) {
    this.label = label;
    this.replaces = replaces;
    this.names = String.join(" ", names);
  }

  /** What a write replaces. */
  private enum Replaces {
    NOTHING,
    TABLE,
    FIRST_PARTITION,
    /** What it writes to: dynamic partition overwrite. */
    WHAT_IS_WRITTEN,
    /** The same, by the conflict mode. */
    CONFLICTS
  }

  /** As the table of the page has it. */
  String label() {
    return label;
  }

  boolean isAppend() {
    return replaces == Replaces.NOTHING;
  }

  /** The table before. */
  NavigableMap<String, String> old() {
    boolean isRoot = names.indexOf('/') < 0;
    return rows(isRoot ? OLD_ROOT : OLD, "old");
  }

  /** What a writer of this kind adds. */
  NavigableMap<String, String> rows(String word) {
    List<String> own = new ArrayList<>();
    for (String name : names.split(" ", -1)) {
      own.add(name + "-" + word);
    }
    return rows(own, word);
  }

  private static NavigableMap<String, String> rows(List<String> names, String word) {
    NavigableMap<String, String> rows = new TreeMap<>();
    for (String name : names) {
      String path = name.startsWith("/") ? name : CrashStore.TABLE + "/" + name;
      rows.put(path, word + " " + path);
    }
    return rows;
  }

  /** What a writer makes of a table. */
  NavigableMap<String, String> after(String word, Map<String, String> before) {
    NavigableMap<String, String> after = new TreeMap<>(before);
    after.keySet().removeIf(this::isReplaced);
    after.putAll(rows(word));
    return after;
  }

  /** Whether it replaces what stands at a path. */
  boolean isReplaced(String path) {
    return replaced().stream().anyMatch(place -> path.startsWith(place + "/"));
  }

  private Set<String> replaced() {
    Set<String> replaced = new TreeSet<>();
    switch (replaces) {
      case TABLE:
        replaced.add(CrashStore.TABLE);
        break;
      case FIRST_PARTITION:
        replaced.add(CrashStore.TABLE + "/p=1");
        break;
      case WHAT_IS_WRITTEN:
      case CONFLICTS:
        rows("").keySet().forEach(file -> replaced.add(file.substring(0, file.lastIndexOf('/'))));
        break;
      case NOTHING:
        break;
    }
    return replaced;
  }

  /** Sets a job up that does it. */
  void setUp(CrashJob job, CrashStore store, String word) throws IOException {
    if (replaces == Replaces.CONFLICTS) {
      job.with(CommitterConfig.CONFLICT_MODE, "replace");
    }
    rows(word).forEach(job::file);
    List<Path> recorded = new ArrayList<>();
    if (replaces == Replaces.TABLE || replaces == Replaces.FIRST_PARTITION) {
      replaced().forEach(path -> recorded.add(store.path(path)));
    }
    job.setUp(
        replaces == Replaces.WHAT_IS_WRITTEN ? Overwrite::dynamic : Overwrite::recorded, recorded);
  }
}
