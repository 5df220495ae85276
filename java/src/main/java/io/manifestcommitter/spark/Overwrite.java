// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig.ConflictMode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;

/** What this job was asked to replace; merged, so that no root contains another. */
final class Overwrite {
  private final Set<Path> recorded = new TreeSet<>();
  private final boolean dynamic;

  private Overwrite(boolean dynamic) {
    this.dynamic = dynamic;
  }

  /** Replaces just what is recorded. */
  static Overwrite recorded(Collection<Path> paths) {
    Overwrite overwrite = new Overwrite(false);
    overwrite.recorded.addAll(paths);
    return overwrite;
  }

  /** Replaces every partition that the job writes to. */
  static Overwrite dynamic(Collection<Path> paths) {
    Overwrite overwrite = new Overwrite(true);
    overwrite.recorded.addAll(paths);
    return overwrite;
  }

  boolean replacesWholeTable(Path table) {
    return recorded.contains(table);
  }

  /** What kind of write this is, for people. */
  String kind(Path table, ConflictMode conflicts) {
    if (dynamic) {
      return "dynamic overwrite";
    }
    if (replacesWholeTable(table)) {
      return "overwrite";
    }
    if (!recorded.isEmpty()) {
      return "overwrite of partitions";
    }
    return conflicts == ConflictMode.REPLACE ? "append that replaces partitions" : "append";
  }

  /** What is replaced where a job writes to these directories. */
  Collection<Path> roots(Collection<Path> written) {
    return outermost(recorded, dynamic ? written : List.of());
  }

  /** Those that lie in no other one. */
  static Collection<Path> outermost(Collection<Path> some, Collection<Path> more) {
    Set<Path> all = new HashSet<>(some);
    all.addAll(more);
    List<Path> outermost = new ArrayList<>(new TreeSet<>(all));
    outermost.removeIf(
        path -> {
          for (Path above = path.getParent(); above != null; above = above.getParent()) {
            if (all.contains(above)) {
              return true;
            }
          }
          return false;
        });
    return outermost;
  }
}
