// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.MeanStatistic;

/** Manifests and names for the tests of this package. */
final class Manifests {
  /** Names of files that broke somebody's software before. */
  static final List<String> HOSTILE_NAMES =
      List.of(
          "with space",
          " leading and trailing ",
          "100%",
          "%20",
          "%2F..%2F",
          "a:b",
          "12:34:56",
          "day=1",
          "=",
          "naïve-日本語-🦆",
          "e\u0301",
          "\"quoted\"",
          "it's",
          "line\nbreak",
          "tab\tand\rreturn",
          "nul\u0000byte",
          "esc\u001b[31m",
          "back\\slash",
          "a#b",
          "a?b=c",
          "a+b",
          "a&b;c,d@e!f$g*h",
          "[brackets]{braces}",
          "<xml>|`^~",
          "...",
          ".hidden",
          "\u2028\u00a0\u202e\ufeff",
          "\ufffd\uffff",
          "__HIVE_DEFAULT_PARTITION__",
          "x".repeat(5000));

  /** A manifest with every field filled in. */
  static final TaskManifest SAMPLE =
      new TaskManifest(
          "job_202401011200_0001",
          1,
          "task_202401011200_0001_m_000003",
          "attempt_202401011200_0001_m_000003_0",
          new Path("abfs://c@a.dfs.core.windows.net/t/_temporary/tasks/a 1"),
          List.of(
              new FileEntry(
                  new Path("abfs://c@a.dfs.core.windows.net/t/_temporary/tasks/a 1/d=1/f 1"),
                  new Path("abfs://c@a.dfs.core.windows.net/t/d=1/f 1"),
                  1234567890123L,
                  "\"0x8DC\"",
                  1700000000000L),
              new FileEntry(
                  new Path("abfs://c@a.dfs.core.windows.net/t/_temporary/tasks/a 1/d=2/ß%:"),
                  new Path("abfs://c@a.dfs.core.windows.net/t/d=2/ß%:"),
                  0,
                  null,
                  0)),
          List.of(
              new TaskManifest.Directory(new Path("abfs://c@a.dfs.core.windows.net/t/d=1"), 1),
              new TaskManifest.Directory(new Path("abfs://c@a.dfs.core.windows.net/t/d=2"), 1)),
          Map.of("note", "\"quoted\" 日本"),
          sampleStatistics());

  private Manifests() {}

  static IOStatisticsSnapshot sampleStatistics() {
    return statistics(
        Map.of("op_rename", 2L, "committer_files_committed", 2L),
        Map.of("stage.job.setup.heap.memory", 12345L),
        Map.of("op_rename.min", 0L),
        Map.of("op_rename.max", 17L),
        Map.of("op_rename.mean", new MeanStatistic(2, 17)));
  }

  static IOStatisticsSnapshot statistics(
      Map<String, Long> counters,
      Map<String, Long> gauges,
      Map<String, Long> minimums,
      Map<String, Long> maximums,
      Map<String, MeanStatistic> means) {
    IOStatisticsSnapshot statistics = new IOStatisticsSnapshot();
    statistics.counters().putAll(counters);
    statistics.gauges().putAll(gauges);
    statistics.minimums().putAll(minimums);
    statistics.maximums().putAll(maximums);
    statistics.meanStatistics().putAll(means);
    return statistics;
  }

  /** All that a manifest says. */
  static String text(TaskManifest manifest) {
    return new String(manifest.toJson(), StandardCharsets.UTF_8);
  }

  /** Any text that can be written. */
  static Arbitrary<String> texts() {
    return Arbitraries.oneOf(
        Arbitraries.of(HOSTILE_NAMES),
        Arbitraries.strings().all().ofMaxLength(20).filter(s -> s.equals(PathText.wellFormed(s))));
  }

  /** Any name of a file. */
  static Arbitrary<String> names() {
    return texts()
        .map(name -> name.replace("/", ""))
        .filter(name -> !name.isEmpty() && !name.equals(".") && !name.equals(".."));
  }

  /** Any full path of a file. */
  static Arbitrary<Path> paths() {
    Arbitrary<String> stores =
        Arbitraries.of(
            "abfs://c@a.dfs.core.windows.net", "gs://my_bucket", "hdfs://nn:8020", "file:", "");
    return Combinators.combine(stores, names().list().ofMinSize(1).ofMaxSize(4))
        .as(
            (store, names) -> {
              Path root = new Path(store + "/");
              return new Path(
                  root.toUri().getScheme(),
                  root.toUri().getAuthority(),
                  "/" + String.join("/", names));
            });
  }

  static Arbitrary<FileEntry> files() {
    Arbitrary<Long> numbers = Arbitraries.longs().between(0, Long.MAX_VALUE);
    return Combinators.combine(paths(), paths(), numbers, texts(), numbers).as(FileEntry::new);
  }

  static Arbitrary<IOStatisticsSnapshot> statistics() {
    Arbitrary<Map<String, Long>> numbers =
        Arbitraries.maps(texts(), Arbitraries.longs()).ofMaxSize(3);
    Arbitrary<MeanStatistic> mean =
        Combinators.combine(Arbitraries.longs().greaterOrEqual(0), Arbitraries.longs())
            .as(MeanStatistic::new);
    return Combinators.combine(
            numbers, numbers, numbers, numbers, Arbitraries.maps(texts(), mean).ofMaxSize(3))
        .as(Manifests::statistics);
  }

  static Arbitrary<TaskManifest> manifests() {
    Arbitrary<String> ids = texts().filter(id -> !id.isEmpty());
    Arbitrary<TaskManifest.Directory> directories =
        Combinators.combine(paths(), Arbitraries.integers().between(0, 9))
            .as(TaskManifest.Directory::new);
    return Combinators.combine(
            ids.list().ofSize(3),
            Arbitraries.integers().greaterOrEqual(0),
            paths(),
            files().list().ofMaxSize(3),
            directories.list().ofMaxSize(3),
            Arbitraries.maps(texts(), texts()).ofMaxSize(3),
            statistics())
        .as(
            (id, attempt, directory, files, dirs, extra, statistics) ->
                new TaskManifest(
                    id.get(0),
                    attempt,
                    id.get(1),
                    id.get(2),
                    directory,
                    files,
                    dirs,
                    extra,
                    statistics));
  }

  /** As many files as asked for, with ordinary names. */
  static List<FileEntry> files(int count) {
    List<FileEntry> files = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      files.add(
          new FileEntry(
              new Path("file:/t/_temporary/f" + i), new Path("file:/t/d=1/f" + i), i, null, 0));
    }
    return files;
  }
}
