// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.BuildInfo;
import io.manifestcommitter.cli.Setting;
import io.manifestcommitter.info.JobSettings.Origin;
import io.manifestcommitter.info.Problem.Repair;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;

/**
 * What is wrong with the way in which Spark SQL commits; nothing if no session is known. Makes no
 * request and initialises no class.
 */
final class SparkRules extends Rules {
  private final JobSettings settings;
  private final SparkSettings spark;
  private final FactoryBinding factory;
  private final boolean factoryIsOurs;
  private final Probe probe;
  private final String jar;
  private final String protocol;
  private final boolean isSparks;
  private final boolean isStock;
  private final Optional<String> unusable;

  /**
   * Of the writes to a path.
   *
   * @param probe with the committer that the path's factory made
   * @param jar our jar, as {@code spark.jars} takes it
   */
  SparkRules(JobSettings settings, Path path, Probe probe, String jar) {
    this.settings = settings;
    this.spark = settings.spark();
    this.factory = FactoryBinding.of(settings.sql(), path);
    this.factoryIsOurs = ClassNames.isOurFactory(factory.className());
    this.probe = probe;
    this.jar = jar;
    this.protocol = spark.protocol().value();
    this.isSparks = ClassNames.isSparksProtocol(protocol);
    this.isStock = protocol.equals(ClassNames.STOCK_PROTOCOL);
    this.unusable = isSparks ? Optional.empty() : whyUnusable(protocol, ClassNames.PROTOCOL_BASE);
  }

  /** Whether our protocol is set, whether or not it can be used. */
  boolean isOurs() {
    return spark.known() && protocol.equals(ClassNames.PROTOCOL);
  }

  /** Whether writes of Spark SQL to the path are committed by us. */
  boolean serves() {
    return spark.known() && unusable.isEmpty() && (isOurs() || (isStock && factoryIsOurs));
  }

  @Override
  protected void check() {
    if (spark.known()) {
      checkJar();
      checkProtocol();
      checkOthers();
    }
  }

  private void checkJar() {
    if (settings.origin() == Origin.FILES) {
      if ((isOurs() || factoryIsOurs) && !namesOurJar()) {
        warning(
            ProblemCode.JAR_MISSING,
            Repair.set(
                SparkSettings.JARS,
                spark.get(SparkSettings.JARS).map(jars -> jars.value() + ",").orElse("") + jar),
            "The settings name the manifest committer, but neither %s nor %s names its jar. Unless"
                + " it lies among Spark's own jars or is given with --jars, all writes fail",
            SparkSettings.JARS,
            SparkSettings.DRIVER_CLASS_PATH);
      }
    } else if (settings.origin() != Origin.SPARK_SUBMIT && !loads(BuildInfo.class.getName())) {
      error(
          ProblemCode.JAR_MISSING,
          Repair.addJar(jar),
          "The session does not have the jar of the manifest committer. In a running session"
              + " manifest_committer.configure_session(spark) adds it and makes the settings");
    }
  }

  private boolean namesOurJar() {
    return Stream.of(SparkSettings.JARS, SparkSettings.DRIVER_CLASS_PATH)
        .flatMap(key -> spark.get(key).stream())
        .anyMatch(paths -> paths.value().contains("manifest-committer"));
  }

  private void checkProtocol() {
    Repair bindOurs = Repair.set(SparkSettings.PROTOCOL, ClassNames.PROTOCOL);
    if (isSparks) {
      error(
          ProblemCode.SPARK_PROTOCOL,
          bindOurs,
          "Spark SQL and DataFrames commit by %s (%s). %s",
          simple(protocol),
          spark.protocol().source(),
          whatSparksProtocolDoes());
    } else if (unusable.isPresent()) {
      error(
          ProblemCode.SPARK_PROTOCOL_NOT_FOUND,
          isOurs() ? Repair.addJar(jar) : bindOurs,
          "Every write of Spark SQL fails: its commit protocol %s %s. It is in %s",
          spark.protocol(),
          unusable.get(),
          ClassNames.jarOf(protocol));
    } else if (isStock) {
      // Ours says yes here, and refuses when the protocol itself asks.
      boolean appends =
          !factoryIsOurs
              && (probe.promisesDynamicOverwrite()
                  || ClassNames.isHadoopsFactory(factory.className()));
      warning(
          ProblemCode.STOCK_OVERWRITE,
          bindOurs,
          "Through %s a dynamic partition overwrite %s. A static overwrite deletes the old data"
              + " before the job runs. Our own protocol does both safely",
          simple(protocol),
          appends ? "appends to the partitions, and reports success" : "is refused");
    } else if (!isOurs()) {
      warning(
          ProblemCode.OTHER_SPARK_PROTOCOL,
          bindOurs,
          "Spark SQL and DataFrames commit by %s, which is not ours",
          protocol);
    }
  }

  private String whatSparksProtocolDoes() {
    String name = factory.className();
    String past = "That leads ORC, CSV, JSON and text files past the staging directory of ";
    String others;
    if (factoryIsOurs) {
      others =
          past + "the factory bound by " + factory.key() + ": our committer refuses such writes";
    } else if (ClassNames.isHadoopsFactory(name)) {
      others =
          past
              + "Hadoop's manifest committer, bound by "
              + factory.key()
              + ". Rows are visible before the job commits, and those of a failed job stay";
    } else if (factory.setting().isPresent() && !ClassNames.isFileOutputFactory(name)) {
      others = "ORC, CSV, JSON and text files are committed by what " + name + " makes";
    } else {
      return "No factory is bound: FileOutputCommitter commits all formats";
    }
    return others
        + (spark.parquetCommitter().value().equals(ClassNames.STOCK_PARQUET_COMMITTER)
            ? ". Parquet alone asks the factory in a safe way, through "
                + simple(ClassNames.STOCK_PARQUET_COMMITTER)
            : ". Parquet never asks the factory: FileOutputCommitter commits it");
  }

  private void checkOthers() {
    Setting parquet = spark.parquetCommitter();
    Optional<String> badParquet =
        parquet.value().equals(ClassNames.PARQUET_COMMITTER)
            ? Optional.empty()
            : whyUnusable(parquet.value(), "org.apache.hadoop.mapreduce.OutputCommitter");
    if (badParquet.isPresent()) {
      error(
          ProblemCode.PARQUET_COMMITTER_NOT_FOUND,
          Repair.set(SparkSettings.PARQUET_COMMITTER, ClassNames.PARQUET_COMMITTER),
          "Every write of Parquet fails: Spark loads %s under every commit protocol, and the class"
              + " %s. It is in %s; neither our protocol nor the stock binding needs it",
          parquet,
          badParquet.get(),
          ClassNames.jarOf(parquet.value()));
    }
    Optional<Setting> others = spark.get(SparkSettings.OUTPUT_COMMITTER);
    if (!isSparks && others.isPresent()) {
      note(
          ProblemCode.OUTPUT_COMMITTER_IGNORED,
          Repair.set(SparkSettings.OUTPUT_COMMITTER, null),
          "%s is %s, which only Spark's default protocol asks for: it has no effect",
          SparkSettings.OUTPUT_COMMITTER,
          others.get().value());
    }
    Setting streaming = spark.streamingProtocol();
    // Its package differs between versions of Spark.
    if (!streaming.value().endsWith(".ManifestFileCommitProtocol")) {
      warning(
          ProblemCode.STREAMING_PROTOCOL,
          Repair.set(SparkSettings.STREAMING_PROTOCOL, ClassNames.STREAMING_PROTOCOL),
          "Streaming queries commit by %s. Only Spark's own protocol keeps the log of a file sink,"
              + " _spark_metadata, without which a batch that is run again is in the table twice",
          streaming);
    }
  }

  /** Why a class is not what its setting needs; empty also where there is no Spark to tell. */
  private Optional<String> whyUnusable(String className, String base) {
    if (!spark.known() || !loads(ClassNames.PROTOCOL_BASE)) {
      return Optional.empty();
    }
    try {
      Class<?> loaded = settings.loader().loadClass(className);
      return settings.loader().loadClass(base).isAssignableFrom(loaded)
          ? Optional.empty()
          : Optional.of("is not a subclass of " + base);
    } catch (ClassNotFoundException e) {
      return Optional.of("is not on the class path");
    } catch (LinkageError e) {
      return Optional.of("cannot be loaded (" + message(e) + ")");
    }
  }

  private boolean loads(String className) {
    return ClassNames.loads(settings.loader(), className);
  }

  private static String simple(String className) {
    return className.substring(className.lastIndexOf('.') + 1);
  }
}
