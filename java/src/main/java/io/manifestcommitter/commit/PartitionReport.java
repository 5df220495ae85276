// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntries;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.OldDirectory;
import io.manifestcommitter.plan.Swaps.Swap;
import io.manifestcommitter.store.StorePaths;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

/**
 * What a job did to each partition: whether it made, replaced or appended to it, with how many
 * files and bytes. A custom location is a partition, too, and so is a table without partitions.
 */
final class PartitionReport {
  /** How many partitions a report names: the largest. */
  private static final int NAMED = 50;

  private final JobPlan plan;
  private final Set<Path> replaced = new HashSet<>();
  private final Set<Path> replacedWhole = new HashSet<>();

  PartitionReport(JobPlan plan) {
    this.plan = plan;
    for (OldDirectory old : plan.replaced()) {
      replaced.add(old.path());
    }
    for (Swap swap : plan.swaps().all()) {
      if (swap.aside().isPresent()) {
        replacedWhole.add(swap.place());
      }
    }
  }

  /** Counts the partitions that were created, replaced and appended to. */
  void countTo(StatisticsRecorder statistics) {
    for (Path directory : plan.files().totals().keySet()) {
      statistics.increment(fate(directory).counter);
    }
  }

  /**
   * The largest partitions by their bytes.
   *
   * @return an object for each, by name, with {@code path}, {@code outcome}, {@code files} and
   *     {@code bytes}; a table without partitions is {@code .}
   */
  List<Map<String, Object>> largest() {
    List<Map.Entry<Path, FileEntries.Total>> all =
        new ArrayList<>(plan.files().totals().entrySet());
    Comparator<Map.Entry<Path, FileEntries.Total>> byBytes =
        Comparator.comparingLong(entry -> -entry.getValue().bytes());
    all.sort(byBytes.thenComparing(Map.Entry::getKey));
    Map<String, Map<String, Object>> largest = new TreeMap<>();
    for (Map.Entry<Path, FileEntries.Total> one : all.subList(0, Math.min(NAMED, all.size()))) {
      Map<String, Object> told = new LinkedHashMap<>();
      told.put("path", name(one.getKey()));
      told.put("outcome", fate(one.getKey()).word);
      told.put("files", one.getValue().files());
      told.put("bytes", one.getValue().bytes());
      largest.put(name(one.getKey()), told);
    }
    return List.copyOf(largest.values());
  }

  private String name(Path directory) {
    Path table = plan.table();
    if (directory.equals(table)) {
      return ".";
    }
    return StorePaths.isBelow(table, directory)
        ? StorePaths.relative(table, directory)
        : directory.toString();
  }

  private Fate fate(Path directory) {
    if (replaced.contains(directory) || StorePaths.isSameOrBelowOne(replacedWhole, directory)) {
      return Fate.REPLACED;
    }
    boolean isNew =
        plan.missingDirectories().contains(directory)
            || (directory.equals(plan.table()) && plan.makesTable());
    return isNew ? Fate.CREATED : Fate.APPENDED;
  }

  private enum Fate {
    CREATED("created", StatisticNames.COMMITTER_PARTITIONS_CREATED),
    REPLACED("replaced", StatisticNames.COMMITTER_PARTITIONS_REPLACED),
    APPENDED("appended to", StatisticNames.COMMITTER_PARTITIONS_APPENDED);

    private final String word;
    private final String counter;

    Fate(String word, String counter) {
      this.word = word;
      this.counter = counter;
    }
  }
}
