// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.CommandLine.Setting;
import io.manifestcommitter.cli.Json;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.info.JobSettings.Origin;
import io.manifestcommitter.info.Problem.Repair;
import io.manifestcommitter.info.Problem.Severity;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.watch.SparkWatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.VersionInfo;

/** Which committer the jobs that write to one path get, from which setting, and what is wrong. */
final class CommitterReport {
  /** The worst first. */
  final List<Problem> problems;

  /** Whether the manifest committer commits at least one kind of job that writes to the path. */
  final boolean served;

  private final Json.Fields map;

  /** Of a path, which is null if it cannot be used. */
  private CommitterReport(
      String name,
      Path path,
      JobSettings settings,
      Probe probe,
      Map<String, Json.Fields> options,
      List<Problem> problems,
      boolean served) {
    Optional<Path> known = Optional.ofNullable(path);
    Optional<FactoryBinding> factory =
        known.map(usable -> FactoryBinding.of(settings.jobs(usable), usable));
    Optional<SparkSettings> session = Optional.of(settings.spark).filter(set -> set.known);
    this.problems = problems;
    this.served = served;
    this.map =
        new Json.Fields()
            .with("path", name)
            .with("scheme", known.map(usable -> usable.toUri().getScheme()).orElse(""))
            .with("ok", ok())
            .with("served", served)
            .with("version", ClassNames.version())
            .with("hadoopVersion", VersionInfo.getVersion());
    map.putAll(probe.map);
    map.with("factory", factory.map(bound -> bound.className))
        .with("factoryKey", factory.map(bound -> bound.key))
        .with("factorySource", factory.flatMap(bound -> bound.setting).map(set -> set.source))
        .with("commitProtocol", session.map(SparkSettings::protocol))
        .with("parquetCommitter", session.map(SparkSettings::parquetCommitter))
        .with("outputCommitter", session.flatMap(set -> set.get(SparkSettings.OUTPUT_COMMITTER)))
        .with("streamingProtocol", session.map(SparkSettings::streamingProtocol))
        .with("options", options)
        .with("watching", SparkWatch.places())
        .with("problems", problems);
  }

  /**
   * Looks at one path.
   *
   * @param patience how long to wait for its store
   * @param jar our jar, as {@code spark.jars} takes it
   */
  static CommitterReport of(String name, JobSettings settings, Duration patience, String jar) {
    Path path;
    try {
      path = StorePaths.plain(new Path(name));
    } catch (IllegalArgumentException e) {
      Problem problem = Problem.of("unusable-path", null, Repair.none(), name, e.getMessage());
      return new CommitterReport(
          name, null, settings, Probe.nothing(), Map.of(), List.of(problem), false);
    }
    Configuration jobs = settings.jobs(path);
    Probe probe =
        settings.origin == Origin.CONNECT_SERVER
            ? Probe.ofFactory(jobs, path)
            : Probe.of(jobs, path, patience);
    SparkRules sparks = new SparkRules(settings, path, probe, jar);
    StoreRules stores = new StoreRules(jobs, path, VersionInfo.getVersion());
    HadoopRules hadoops = new HadoopRules(settings, path, probe, sparks, stores);
    List<Problem> found = new ArrayList<>(hadoops.problems());
    found.addAll(stores.problems());
    boolean refused = found.stream().anyMatch(p -> p.code().equals("unsupported-store"));
    found.addAll(sparks.problems());
    found.sort(Problem.IN_ORDER);
    boolean served = hadoops.serves() || (sparks.serves() && !refused);
    Map<String, Json.Fields> options = options(settings.sql);
    // A connector's settings have neither default nor meaning.
    stores.settings().forEach((key, set) -> options.put(key, option(set, null, null)));
    return new CommitterReport(name, path, settings, probe, options, found, served);
  }

  /** The committer's options that are set, but for what Hadoop ships with the same value. */
  private static Map<String, Json.Fields> options(Configuration conf) {
    Map<String, Json.Fields> made = new TreeMap<>();
    for (CommitterConfig.Option option : CommitterConfig.options()) {
      String fallback = option.fallback;
      FactoryBinding.setting(conf, option.key)
          .filter(set -> !set.value.equals(fallback) || !set.source.endsWith("-default.xml"))
          .ifPresent(set -> made.put(option.key, option(set, fallback, option.meaning())));
    }
    return made;
  }

  private static Json.Fields option(Setting set, String fallback, String meaning) {
    return new Json.Fields()
        .with("value", set.value)
        .with("source", set.source)
        .with("default", fallback)
        .with("meaning", meaning);
  }

  /** Whether we commit something there, and no problem is an error. */
  boolean ok() {
    return served && problems.stream().noneMatch(p -> p.severity == Severity.ERROR);
  }

  /** As programs read it, with all keys always there. */
  Json.Fields toMap() {
    return map;
  }
}
