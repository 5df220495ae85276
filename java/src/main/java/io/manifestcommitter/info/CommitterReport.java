// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.Setting;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterOption;
import io.manifestcommitter.info.JobSettings.Origin;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.watch.SparkPlace;
import io.manifestcommitter.watch.SparkWatch;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** Which committer the jobs that write to one path get, from which setting, and what is wrong. */
final class CommitterReport {
  private final String path;
  private final String scheme;
  private final FactoryBinding factory;
  private final Probed probed;
  private final SparkSettings spark;
  private final Map<String, Setting> options;
  private final List<Problem> problems;
  private final boolean served;
  private final List<SparkPlace> watching = SparkWatch.places();

  private CommitterReport(
      String path,
      String scheme,
      FactoryBinding factory,
      Probed probed,
      SparkSettings spark,
      Map<String, Setting> options,
      List<Problem> problems,
      boolean served) {
    this.path = path;
    this.scheme = scheme;
    this.factory = factory;
    this.probed = probed;
    this.spark = spark;
    this.options = Collections.unmodifiableMap(options);
    List<Problem> sorted = new ArrayList<>(problems);
    sorted.sort(Comparator.comparing(Problem::severity).thenComparing(Problem::code));
    this.problems = Collections.unmodifiableList(sorted);
    this.served = served;
  }

  /**
   * Looks at one path.
   *
   * @param jar our jar, as {@code spark.jars} takes it
   */
  static CommitterReport of(String name, JobSettings settings, CommitterProbe probe, String jar) {
    Path path;
    try {
      path = StorePaths.plain(new Path(name));
    } catch (IllegalArgumentException e) {
      return unusable(name, settings.spark(), e);
    }
    Configuration jobs = settings.jobs(path);
    Probed probed =
        settings.origin() == Origin.CONNECT_SERVER
            ? probe.factoryOnly(jobs, path)
            : probe.probe(jobs, path);
    SparkDiagnosis spark = new SparkDiagnosis(settings, path, probed, jar);
    HadoopDiagnosis hadoop = new HadoopDiagnosis(settings, path, probed, spark);
    List<Problem> problems = new ArrayList<>(hadoop.problems());
    ConnectorDiagnosis connector = new ConnectorDiagnosis(jobs, path);
    problems.addAll(connector.problems());
    boolean refused = problems.stream().anyMatch(p -> p.code() == ProblemCode.UNSUPPORTED_STORE);
    problems.addAll(spark.problems());
    Map<String, Setting> options = changedOptions(settings.sql());
    options.putAll(connector.settings());
    String scheme = path.toUri().getScheme();
    return new CommitterReport(
        name,
        scheme == null ? "" : scheme,
        FactoryBinding.of(jobs, path),
        probed,
        settings.spark(),
        options,
        problems,
        hadoop.serves() || (spark.serves() && !refused));
  }

  private static CommitterReport unusable(
      String name, SparkSettings spark, IllegalArgumentException e) {
    Problem problem =
        Problem.error(
            ProblemCode.UNUSABLE_PATH,
            name
                + " cannot be used as a path ("
                + e.getMessage()
                + "). Write it as a full URI, such as abfs://container@account.dfs.core.windows.net"
                + "/table",
            Repair.none());
    return new CommitterReport(
        name, "", null, Probed.nothing(), spark, Map.of(), List.of(problem), false);
  }

  /** The committer's options whose value is not the default. */
  private static Map<String, Setting> changedOptions(Configuration conf) {
    Map<String, Setting> changed = new TreeMap<>();
    for (CommitterOption option : CommitterConfig.options()) {
      FactoryBinding.setting(conf, option.key())
          .filter(setting -> !setting.value().equals(option.fallback()))
          .ifPresent(setting -> changed.put(option.key(), setting));
    }
    return changed;
  }

  /** As it was asked for. */
  String path() {
    return path;
  }

  /** Empty for a path without one. */
  String scheme() {
    return scheme;
  }

  /** Which setting decides on the factory; empty if the path cannot be used. */
  Optional<FactoryBinding> factory() {
    return Optional.ofNullable(factory);
  }

  Probed probed() {
    return probed;
  }

  SparkSettings spark() {
    return spark;
  }

  /** The options that were changed, those of the connector that act on commits among them. */
  Map<String, Setting> options() {
    return options;
  }

  /** Where Spark shows commits of this JVM; empty where no application of Spark runs. */
  List<SparkPlace> watching() {
    return watching;
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
    return served && problems.stream().noneMatch(p -> p.severity() == Severity.ERROR);
  }
}
