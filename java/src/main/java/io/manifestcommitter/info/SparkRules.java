// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.BuildInfo;
import io.manifestcommitter.cli.CommandLine.Setting;
import io.manifestcommitter.info.JobSettings.Origin;
import io.manifestcommitter.info.Problem.Repair;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.Stores;
import java.util.EnumSet;
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
  private final Probe probe;
  private final String jar;
  private final String protocol;
  private final boolean isSparks;
  private final boolean isStock;
  private final Optional<String> unusable;

  /** Whether Comet writes to such stores. */
  private final boolean isCometsStore;

  /**
   * Of the writes to a path.
   *
   * @param probe with the committer that the path's factory made
   * @param jar our jar, as {@code spark.jars} takes it
   */
  SparkRules(JobSettings settings, Path path, Probe probe, String jar) {
    this.settings = settings;
    this.spark = settings.spark;
    this.factory = FactoryBinding.of(settings.sql, path);
    this.probe = probe;
    this.jar = jar;
    this.protocol = spark.protocol().value;
    this.isSparks = ClassNames.SPARKS_PROTOCOLS.contains(protocol);
    this.isStock = protocol.equals(ClassNames.STOCK_PROTOCOL);
    this.isCometsStore =
        EnumSet.of(StoreFamily.LOCAL, StoreFamily.HDFS)
            .contains(new Stores(settings.sql).family(path));
    this.unusable = isSparks ? Optional.empty() : whyUnusable(protocol, ClassNames.PROTOCOL_BASE);
  }

  /** Whether our protocol is set, whether or not it can be used. */
  boolean isOurs() {
    return spark.known && protocol.equals(ClassNames.PROTOCOL);
  }

  /** Whether writes of Spark SQL to the path are committed by us. */
  boolean serves() {
    return spark.known && unusable.isEmpty() && (isOurs() || (isStock && factory.isOurs()));
  }

  @Override
  protected void check() {
    if (spark.known) {
      checkJar();
      checkProtocol();
      checkOthers();
    }
    if (serves()) {
      checkWriters();
    }
  }

  private void checkJar() {
    if (settings.origin == Origin.FILES) {
      if ((isOurs() || factory.isOurs()) && !namesOurJar()) {
        String others = spark.get(SparkSettings.JARS).map(jars -> jars.value + ",").orElse("");
        add("jar-missing/files", Repair.set(SparkSettings.JARS, others + jar));
      }
    } else if (settings.origin != Origin.SPARK_SUBMIT && !loads(BuildInfo.class.getName())) {
      add("jar-missing", Repair.none().andJar(jar));
    }
  }

  private boolean namesOurJar() {
    return Stream.of(SparkSettings.JARS, SparkSettings.DRIVER_CLASS_PATH)
        .flatMap(key -> spark.get(key).stream())
        .anyMatch(paths -> paths.value.contains("manifest-committer"));
  }

  private void checkProtocol() {
    Repair bindOurs = Repair.set(SparkSettings.PROTOCOL, ClassNames.PROTOCOL);
    if (isSparks) {
      add(
          "spark-protocol/" + factory.kind(),
          bindOurs,
          simple(protocol),
          spark.protocol().source,
          factory.kind().equals("other") ? factory.className : factory.key,
          spark.parquetCommitter().value.equals(ClassNames.STOCK_PARQUET_COMMITTER)
              ? "Parquet alone asks the factory in a safe way, through "
                  + simple(ClassNames.STOCK_PARQUET_COMMITTER)
              : "Parquet never asks the factory: FileOutputCommitter commits it");
    } else if (unusable.isPresent()) {
      add(
          "spark-protocol-not-found",
          isOurs() ? Repair.none().andJar(jar) : bindOurs,
          spark.protocol(),
          unusable.get(),
          ClassNames.jarOf(protocol));
    } else if (isStock) {
      // Ours says yes here, and refuses when the protocol itself asks.
      boolean appends =
          !factory.isOurs() && (probe.promisesDynamicOverwrite || factory.kind().equals("hadoop"));
      String what = appends ? "stock-overwrite/appends" : "stock-overwrite/refuses";
      add(what, bindOurs, simple(protocol));
    } else if (!isOurs()) {
      add("other-spark-protocol", bindOurs, protocol);
    }
  }

  private void checkOthers() {
    Setting parquet = spark.parquetCommitter();
    Optional<String> badParquet =
        parquet.value.equals(ClassNames.PARQUET_COMMITTER)
            ? Optional.empty()
            : whyUnusable(parquet.value, "org.apache.hadoop.mapreduce.OutputCommitter");
    if (badParquet.isPresent()) {
      add(
          "parquet-committer-not-found",
          Repair.set(SparkSettings.PARQUET_COMMITTER, ClassNames.PARQUET_COMMITTER),
          parquet,
          badParquet.get(),
          ClassNames.jarOf(parquet.value));
    }
    Optional<Setting> others = spark.get(SparkSettings.OUTPUT_COMMITTER);
    if (!isSparks && others.isPresent()) {
      Repair remove = Repair.set(SparkSettings.OUTPUT_COMMITTER, null);
      add("output-committer-ignored", remove, others.get().value);
    }
    Setting streaming = spark.streamingProtocol();
    // Its package differs between versions of Spark.
    if (!streaming.value.endsWith(".ManifestFileCommitProtocol")) {
      add(
          "streaming-protocol",
          Repair.set(SparkSettings.STREAMING_PROTOCOL, ClassNames.STREAMING_PROTOCOL),
          streaming);
    }
  }

  /**
   * Settings and the class path show whether a native engine writes the files. A job knows better,
   * by its plan: see {@code SparkCommand.requireKnownWriter}.
   */
  private void checkWriters() {
    Optional<Setting> fabric =
        spark.get(SparkSettings.FABRIC).filter(set -> spark.isOn(SparkSettings.FABRIC, false));
    Optional<Setting> gluten =
        named(SparkSettings.PLUGINS, "GlutenPlugin")
            .filter(set -> spark.isOn(SparkSettings.GLUTEN, true))
            .or(() -> fabric);
    if (gluten.isPresent()) {
      boolean writes = !loads(ClassNames.GLUTENS_CLICKHOUSE);
      if (!spark.isOn(SparkSettings.GLUTEN_WRITES, writes)) {
        add("native-engine", Repair.none(), "Gluten", gluten.get());
      } else if (fabric.isPresent()) {
        add("native-writer/fabric", Repair.set(SparkSettings.FABRIC, "false"), fabric.get());
      } else {
        Repair off = Repair.set(SparkSettings.GLUTEN_WRITES, "false");
        add("native-writer/gluten", off, gluten.get());
      }
    }
    Optional<Setting> comet =
        named(SparkSettings.PLUGINS, "CometPlugin")
            .or(() -> named(SparkSettings.EXTENSIONS, "CometSparkSessionExtensions"))
            .filter(set -> spark.isOn(SparkSettings.COMET, true));
    if (comet.isPresent()) {
      if (isCometsStore && spark.isOn(SparkSettings.COMET_WRITES, false)) {
        Repair off = Repair.set(SparkSettings.COMET_WRITES, "false");
        add("native-writer/comet", off, comet.get());
      } else {
        add("native-engine", Repair.none(), "Comet", comet.get());
      }
    }
    spark
        .get(SparkSettings.DATABRICKS_ENGINE)
        .filter(set -> set.value.equalsIgnoreCase("PHOTON"))
        .ifPresent(set -> add("native-engine/photon", Repair.none(), set));
  }

  private Optional<Setting> named(String key, String simpleName) {
    return spark.get(key).filter(set -> set.value.contains("." + simpleName));
  }

  /** Why a class is not what its setting needs; empty also where there is no Spark to tell. */
  private Optional<String> whyUnusable(String className, String base) {
    if (!spark.known || !loads(ClassNames.PROTOCOL_BASE)) {
      return Optional.empty();
    }
    try {
      Class<?> loaded = settings.loader.loadClass(className);
      return settings.loader.loadClass(base).isAssignableFrom(loaded)
          ? Optional.empty()
          : Optional.of("is not a subclass of " + base);
    } catch (ClassNotFoundException e) {
      return Optional.of("is not on the class path");
    } catch (LinkageError e) {
      return Optional.of("cannot be loaded (" + message(e) + ")");
    }
  }

  private boolean loads(String className) {
    return ClassNames.loads(settings.loader, className);
  }

  private static String simple(String className) {
    return className.substring(className.lastIndexOf('.') + 1);
  }
}
