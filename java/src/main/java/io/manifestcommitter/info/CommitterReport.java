// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.Humane;
import io.manifestcommitter.cli.Json;
import io.manifestcommitter.cli.Setting;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterOption;
import io.manifestcommitter.info.JobSettings.Origin;
import io.manifestcommitter.info.Problem.Repair;
import io.manifestcommitter.info.Problem.Severity;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.watch.SparkPlace;
import io.manifestcommitter.watch.SparkWatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.VersionInfo;

/** Which committer the jobs that write to one path get, from which setting, and what is wrong. */
final class CommitterReport {
  private static final int FIELD_WIDTH = 14;

  private final String path;
  private final String scheme;
  private final Optional<FactoryBinding> factory;
  private final Probe probe;
  private final SparkSettings spark;
  private final Map<String, Setting> options;
  private final List<Problem> problems;
  private final boolean served;
  private final List<SparkPlace> watching = SparkWatch.places();

  private CommitterReport(String name, JobSettings settings, Path path, Probe probe, String jar) {
    Configuration jobs = settings.jobs(path);
    SparkRules sparks = new SparkRules(settings, path, probe, jar);
    StoreRules stores = new StoreRules(jobs, path, VersionInfo.getVersion());
    HadoopRules hadoops = new HadoopRules(settings, path, probe, sparks, stores);
    List<Problem> found = new ArrayList<>(hadoops.problems());
    found.addAll(stores.problems());
    boolean refused = found.stream().anyMatch(p -> p.code() == ProblemCode.UNSUPPORTED_STORE);
    found.addAll(sparks.problems());
    found.sort(Comparator.comparing(Problem::severity).thenComparing(Problem::code));
    this.path = name;
    this.scheme = Optional.ofNullable(path.toUri().getScheme()).orElse("");
    this.factory = Optional.of(FactoryBinding.of(jobs, path));
    this.probe = probe;
    this.spark = settings.spark();
    this.options = changedOptions(settings.sql());
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
      String text =
          String.format(
              "%s cannot be used as a path (%s). Write it as a full URI, such as"
                  + " abfs://container@account.dfs.core.windows.net/table",
              name, e.getMessage());
      return new CommitterReport(
          name,
          settings.spark(),
          new Problem(Severity.ERROR, ProblemCode.UNUSABLE_PATH, text, Repair.none()));
    }
    Configuration jobs = settings.jobs(path);
    Probe probe =
        settings.origin() == Origin.CONNECT_SERVER
            ? Probe.ofFactory(jobs, path)
            : Probe.of(jobs, path, patience);
    return new CommitterReport(name, settings, path, probe, jar);
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

  /** Which setting decides on the factory; empty if the path cannot be used. */
  Optional<FactoryBinding> factory() {
    return factory;
  }

  /** The options that were changed, those of the connector that act on commits among them. */
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
    return served && problems.stream().noneMatch(p -> p.severity() == Severity.ERROR);
  }

  /** As programs read it, with all keys always there. */
  Json.Fields toMap() {
    Json.Fields changed = new Json.Fields();
    options.forEach((key, option) -> changed.with(key, toMap(option)));
    Json.Fields places = new Json.Fields();
    for (SparkPlace place : watching) {
      places.with(
          place.name(), new Json.Fields().with("shown", place.isShown()).with("how", place.how()));
    }
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
        .with("commitProtocol", session.map(set -> toMap(set.protocol())))
        .with("parquetCommitter", session.map(set -> toMap(set.parquetCommitter())))
        .with("outputCommitter", session.flatMap(this::outputCommitter).map(this::toMap))
        .with("streamingProtocol", session.map(set -> toMap(set.streamingProtocol())))
        .with("options", changed)
        .with("watching", places)
        .with("problems", problems.stream().map(this::toMap).collect(Collectors.toList()));
  }

  private Optional<Setting> outputCommitter(SparkSettings session) {
    return session.get(SparkSettings.OUTPUT_COMMITTER);
  }

  private Json.Fields toMap(Setting setting) {
    return new Json.Fields().with("value", setting.value()).with("source", setting.source());
  }

  private Json.Fields toMap(Problem problem) {
    Repair repair = problem.repair();
    return new Json.Fields()
        .with("severity", problem.severity().name().toLowerCase(Locale.ROOT))
        .with("code", problem.code().text())
        .with("text", problem.text())
        .with(
            "repair",
            new Json.Fields()
                .with("settings", repair.settings())
                .with("jar", repair.jar())
                .with("path", repair.path()));
  }

  /** As people read it: several lines; the last has no line break. */
  String text() {
    List<String> lines = new ArrayList<>();
    lines.add(path + ": " + verdict());
    if (factory.isPresent()) {
      addFactory(lines, factory.get());
    }
    lines.add("  Spark SQL and DataFrames");
    if (spark.known()) {
      field(lines, "Protocol", spark.protocol());
      if (ClassNames.isSparksProtocol(spark.protocol().value())) {
        field(lines, "Parquet", spark.parquetCommitter());
        field(lines, "Other formats", outputCommitter(spark).orElse(null));
      }
      field(lines, "Streaming", spark.streamingProtocol());
    } else {
      field(lines, "Protocol", "not known outside of a session: no setting of Spark was given");
    }
    lines.add("  Watching commits");
    if (watching.isEmpty()) {
      String unknown = "not known outside of a session: no application of Spark runs here";
      field(lines, "Shown by Spark", unknown);
    }
    for (SparkPlace place : watching) {
      String name = place.name();
      field(lines, name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1), place);
    }
    options.forEach((key, option) -> lines.add("  Option " + key + " = " + option));
    problems.forEach(problem -> addProblem(lines, problem));
    lines.add(
        "  Seen by manifest-committer "
            + ClassNames.version()
            + " on Hadoop "
            + VersionInfo.getVersion());
    return lines.stream().map(Humane::line).collect(Collectors.joining(System.lineSeparator()));
  }

  private String verdict() {
    StringBuilder verdict =
        new StringBuilder(ok() ? "ok" : served ? "not ok" : "not by the manifest committer");
    for (Severity severity : List.of(Severity.ERROR, Severity.WARNING)) {
      long count = problems.stream().filter(p -> p.severity() == severity).count();
      if (count > 0) {
        String name = severity.name().toLowerCase(Locale.ROOT);
        verdict.append(", ").append(Humane.count(count, name));
      }
    }
    return verdict.toString();
  }

  private void addFactory(List<String> lines, FactoryBinding binding) {
    Map<String, Object> probed = probe.toMap();
    lines.add("  MapReduce jobs and RDD writers");
    field(lines, "Committer", probe.committer().orElse("not made"));
    field(lines, "Factory", binding.className());
    field(
        lines,
        "Set by",
        binding
            .setting()
            .map(setting -> binding.key() + " (" + setting.source() + ")")
            .orElse("nothing: " + binding.key() + " is not set"));
    field(lines, "Job directory", probed.get("jobDirectory"));
    field(lines, "Says of itself", probed.get("description"));
    field(lines, "FileSystem", probe.fileSystem().orElse(null));
  }

  private void addProblem(List<String> lines, Problem problem) {
    lines.add("  " + problem + ".");
    Repair repair = problem.repair();
    repair
        .settings()
        .forEach(
            (key, value) -> {
              // Hadoop's settings have another name where Spark is started.
              String name =
                  (spark.known() && !key.startsWith("spark.") ? "spark.hadoop." : "") + key;
              String set = name + " = " + ("".equals(value) ? "(nothing)" : value);
              lines.add("    Repair: " + (value == null ? "remove " + name : "set " + set));
            });
    repair.jar().ifPresent(jar -> lines.add("    Repair: put on the class path " + jar));
    repair.path().ifPresent(other -> lines.add("    Repair: write to " + other));
  }

  /** Adds a line, unless the value is null. */
  private static void field(List<String> lines, String name, Object value) {
    if (value != null) {
      lines.add(String.format(Locale.ROOT, "    %-" + FIELD_WIDTH + "s %s", name, value));
    }
  }
}
