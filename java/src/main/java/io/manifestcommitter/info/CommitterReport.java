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
  private final String path;
  private final String scheme;
  private final Optional<FactoryBinding> factory;
  private final Probe probe;
  private final SparkSettings spark;
  private final Map<String, Setting> options;
  private final List<Problem> problems;
  private final boolean served;

  private CommitterReport(String name, JobSettings settings, Path path, Probe probe, String jar) {
    Configuration jobs = settings.jobs(path);
    SparkRules sparks = new SparkRules(settings, path, probe, jar);
    StoreRules stores = new StoreRules(jobs, path, VersionInfo.getVersion());
    HadoopRules hadoops = new HadoopRules(settings, path, probe, sparks, stores);
    List<Problem> found = new ArrayList<>(hadoops.problems());
    found.addAll(stores.problems());
    boolean refused = found.stream().anyMatch(p -> p.code().equals("unsupported-store"));
    found.addAll(sparks.problems());
    found.sort(Problem.IN_ORDER);
    this.path = name;
    this.scheme = Optional.ofNullable(path.toUri().getScheme()).orElse("");
    this.factory = Optional.of(FactoryBinding.of(jobs, path));
    this.probe = probe;
    this.spark = settings.spark();
    this.options = setOptions(settings.sql());
    this.options.putAll(stores.settings());
    this.problems = found;
    this.served = hadoops.serves() || (sparks.serves() && !refused);
  }

  /** Of a path that cannot be used. */
  private CommitterReport(String name, SparkSettings spark, Problem problem) {
    this.path = name;
    this.scheme = "";
    this.factory = Optional.empty();
    this.probe = Probe.nothing();
    this.spark = spark;
    this.options = Map.of();
    this.problems = List.of(problem);
    this.served = false;
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
      return new CommitterReport(
          name,
          settings.spark(),
          Problem.of("unusable-path", null, Repair.none(), name, e.getMessage()));
    }
    Configuration jobs = settings.jobs(path);
    Probe probe =
        settings.origin() == Origin.CONNECT_SERVER
            ? Probe.ofFactory(jobs, path)
            : Probe.of(jobs, path, patience);
    return new CommitterReport(name, settings, path, probe, jar);
  }

  /** The committer's options that are set, but for what Hadoop ships with the same value. */
  private static Map<String, Setting> setOptions(Configuration conf) {
    Map<String, Setting> made = new TreeMap<>();
    for (CommitterConfig.Option option : CommitterConfig.options()) {
      FactoryBinding.setting(conf, option.key())
          .filter(
              setting ->
                  !setting.value().equals(option.fallback())
                      || !setting.source().endsWith("-default.xml"))
          .ifPresent(setting -> made.put(option.key(), setting));
    }
    return made;
  }

  /** The same with what they change; a connector's settings have neither default nor meaning. */
  private Json.Fields optionFields() {
    Json.Fields fields = new Json.Fields();
    options.forEach(
        (key, set) -> {
          Optional<CommitterConfig.Option> option =
              CommitterConfig.options().stream().filter(one -> one.key().equals(key)).findAny();
          fields.with(
              key,
              new Json.Fields()
                  .with("value", set.value())
                  .with("source", set.source())
                  .with("default", option.map(CommitterConfig.Option::fallback))
                  .with("meaning", option.map(CommitterConfig.Option::meaning)));
        });
    return fields;
  }

  /** Which setting decides on the factory; empty if the path cannot be used. */
  Optional<FactoryBinding> factory() {
    return factory;
  }

  /** The options that are set, those of the connector that act on commits among them. */
  Map<String, Setting> options() {
    return options;
  }

  /** The worst first. */
  List<Problem> problems() {
    return problems;
  }

  /** Whether the manifest committer commits at least one kind of job that writes to the path. */
  boolean served() {
    return served;
  }

  /** Whether it does, and no problem is an error. */
  boolean ok() {
    return served && problems.stream().noneMatch(p -> p.severity == Severity.ERROR);
  }

  /** As programs read it, with all keys always there. */
  Json.Fields toMap() {
    Json.Fields map =
        new Json.Fields()
            .with("path", path)
            .with("scheme", scheme)
            .with("ok", ok())
            .with("served", served)
            .with("version", ClassNames.version())
            .with("hadoopVersion", VersionInfo.getVersion());
    map.putAll(probe.toMap());
    Optional<SparkSettings> session = Optional.of(spark).filter(SparkSettings::known);
    return map.with("factory", factory.map(FactoryBinding::className))
        .with("factoryKey", factory.map(FactoryBinding::key))
        .with("factorySource", factory.flatMap(FactoryBinding::setting).map(Setting::source))
        .with("commitProtocol", session.map(SparkSettings::protocol))
        .with("parquetCommitter", session.map(SparkSettings::parquetCommitter))
        .with("outputCommitter", session.flatMap(set -> set.get(SparkSettings.OUTPUT_COMMITTER)))
        .with("streamingProtocol", session.map(SparkSettings::streamingProtocol))
        .with("options", optionFields())
        .with("watching", SparkWatch.places())
        .with("problems", problems);
  }
}
