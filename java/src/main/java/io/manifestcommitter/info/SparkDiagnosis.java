// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.BuildInfo;
import io.manifestcommitter.cli.Setting;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;

/**
 * What is wrong with the way in which Spark SQL commits. Makes no request and initialises no class.
 */
final class SparkDiagnosis {
  private final JobSettings settings;
  private final SparkSettings spark;
  private final FactoryBinding factory;
  private final Probed probed;
  private final String jar;
  private final String protocol;
  private final Optional<String> unusable;

  /**
   * A diagnosis.
   *
   * @param probed the committer that the path's factory made
   * @param jar our jar, as {@code spark.jars} takes it
   */
  SparkDiagnosis(JobSettings settings, Path path, Probed probed, String jar) {
    this.settings = settings;
    this.spark = settings.spark();
    this.factory = FactoryBinding.of(settings.sql(), path);
    this.probed = probed;
    this.jar = jar;
    this.protocol = spark.protocol().value();
    this.unusable =
        ClassNames.isSparksProtocol(protocol)
            ? Optional.empty()
            : whyUnusable(protocol, ClassNames.PROTOCOL_BASE);
  }

  /** Whether our protocol is set, whether or not it can be used. */
  boolean isOurs() {
    return spark.known() && protocol.equals(ClassNames.PROTOCOL);
  }

  /** Whether writes of Spark SQL to the path are committed by us. */
  boolean serves() {
    if (!spark.known() || unusable.isPresent()) {
      return false;
    }
    return isOurs() || (isStock() && ClassNames.isOurFactory(factory.className()));
  }

  /** All that is wrong; nothing if no session is known. */
  List<Problem> problems() {
    if (!spark.known()) {
      return List.of();
    }
    return Stream.of(
            jarMissing(),
            protocolProblem(),
            parquetCommitterMissing(),
            stockOverwrite(),
            outputCommitterIgnored(),
            streaming())
        .flatMap(Optional::stream)
        .collect(Collectors.toList());
  }

  private Optional<Problem> jarMissing() {
    switch (settings.origin()) {
      case SESSION:
      case CONNECT_SERVER:
        return loads(BuildInfo.class.getName())
            ? Optional.empty()
            : Optional.of(
                Problem.error(
                    ProblemCode.JAR_MISSING,
                    "The session does not have the jar of the manifest committer. In a running"
                        + " session manifest_committer.configure_session(spark) adds it and makes"
                        + " the settings",
                    Repair.addJar(jar)));
      case FILES:
        return namesOurClasses() && !namesOurJar()
            ? Optional.of(
                Problem.warning(
                    ProblemCode.JAR_MISSING,
                    "The settings name the manifest committer, but neither "
                        + SparkSettings.JARS
                        + " nor "
                        + SparkSettings.DRIVER_CLASS_PATH
                        + " names its jar. Unless it lies among Spark's own jars or is given with"
                        + " --jars, all writes fail",
                    Repair.set(
                        SparkSettings.JARS,
                        spark
                            .get(SparkSettings.JARS)
                            .map(jars -> jars.value() + "," + jar)
                            .orElse(jar))))
            : Optional.empty();
      case SPARK_SUBMIT:
        return Optional.empty();
    }
    throw new AssertionError(settings.origin());
  }

  private boolean namesOurClasses() {
    return isOurs() || ClassNames.isOurFactory(factory.className());
  }

  private boolean namesOurJar() {
    return Stream.of(SparkSettings.JARS, SparkSettings.DRIVER_CLASS_PATH)
        .flatMap(key -> spark.get(key).stream())
        .anyMatch(paths -> paths.value().contains("manifest-committer"));
  }

  private Optional<Problem> protocolProblem() {
    Repair repair = Repair.set(SparkSettings.PROTOCOL, ClassNames.PROTOCOL);
    if (ClassNames.isSparksProtocol(protocol)) {
      return Optional.of(
          Problem.error(
              ProblemCode.SPARK_PROTOCOL,
              "Spark SQL and DataFrames commit by "
                  + simple(protocol)
                  + " ("
                  + spark.protocol().source()
                  + "). "
                  + whatSparksProtocolDoes(),
              repair));
    }
    if (unusable.isPresent()) {
      String comesIn = ClassNames.jarOf(protocol);
      return Optional.of(
          Problem.error(
              ProblemCode.SPARK_PROTOCOL_NOT_FOUND,
              "Every write of Spark SQL fails: its commit protocol "
                  + protocol
                  + " ("
                  + spark.protocol().source()
                  + ") "
                  + unusable.get()
                  + ". It is in "
                  + comesIn,
              isOurs() ? Repair.addJar(jar) : repair));
    }
    if (isOurs() || isStock()) {
      return Optional.empty();
    }
    return Optional.of(
        Problem.warning(
            ProblemCode.OTHER_SPARK_PROTOCOL,
            "Spark SQL and DataFrames commit by " + protocol + ", which is not ours",
            repair));
  }

  private String whatSparksProtocolDoes() {
    String name = factory.className();
    List<String> sentences = new ArrayList<>();
    if (ClassNames.isOurFactory(name)) {
      sentences.add(
          "That leads ORC, CSV, JSON and text files past the staging directory of the factory"
              + " bound by "
              + factory.key()
              + ": our committer refuses such writes");
    } else if (ClassNames.isHadoopsFactory(name)) {
      sentences.add(
          "That leads ORC, CSV, JSON and text files past the staging directory of Hadoop's"
              + " manifest committer, bound by "
              + factory.key()
              + ". Rows are visible before the job commits, and those of a failed job stay");
    } else if (factory.setting().isPresent() && !ClassNames.isFileOutputFactory(name)) {
      sentences.add("ORC, CSV, JSON and text files are committed by what " + name + " makes");
    } else {
      sentences.add("No factory is bound: FileOutputCommitter commits all formats");
      return String.join(". ", sentences);
    }
    sentences.add(
        spark.parquetCommitter().value().equals(ClassNames.STOCK_PARQUET_COMMITTER)
            ? "Parquet alone asks the factory in a safe way, through "
                + simple(ClassNames.STOCK_PARQUET_COMMITTER)
            : "Parquet never asks the factory: FileOutputCommitter commits it");
    return String.join(". ", sentences);
  }

  private Optional<Problem> parquetCommitterMissing() {
    Optional<Setting> set = spark.get(SparkSettings.PARQUET_COMMITTER);
    Optional<String> why =
        set.map(Setting::value)
            .filter(name -> !name.equals(ClassNames.PARQUET_COMMITTER))
            .flatMap(name -> whyUnusable(name, "org.apache.hadoop.mapreduce.OutputCommitter"));
    return why.map(
        reason ->
            Problem.error(
                ProblemCode.PARQUET_COMMITTER_NOT_FOUND,
                "Every write of Parquet fails: Spark loads "
                    + set.get().value()
                    + " ("
                    + set.get().source()
                    + ") under every commit protocol, and the class "
                    + reason
                    + ". It is in "
                    + ClassNames.jarOf(set.get().value())
                    + "; neither our protocol nor the stock binding needs it",
                Repair.set(SparkSettings.PARQUET_COMMITTER, ClassNames.PARQUET_COMMITTER)));
  }

  private Optional<Problem> stockOverwrite() {
    if (!isStock() || unusable.isPresent()) {
      return Optional.empty();
    }
    boolean appends =
        // Ours says yes here, and refuses when the protocol itself asks.
        !ClassNames.isOurFactory(factory.className())
            && (probed.promisesDynamicOverwrite()
                || ClassNames.isHadoopsFactory(factory.className()));
    return Optional.of(
        Problem.warning(
            ProblemCode.STOCK_OVERWRITE,
            "Through "
                + simple(protocol)
                + (appends
                    ? " a dynamic partition overwrite appends to the partitions, and reports success"
                    : " a dynamic partition overwrite is refused")
                + ". A static overwrite deletes the old data before the job runs. Our own"
                + " protocol does both safely",
            Repair.set(SparkSettings.PROTOCOL, ClassNames.PROTOCOL)));
  }

  private Optional<Problem> outputCommitterIgnored() {
    if (ClassNames.isSparksProtocol(protocol)) {
      return Optional.empty();
    }
    return spark
        .get(SparkSettings.OUTPUT_COMMITTER)
        .map(
            set ->
                Problem.note(
                    ProblemCode.OUTPUT_COMMITTER_IGNORED,
                    SparkSettings.OUTPUT_COMMITTER
                        + " is "
                        + set.value()
                        + ", which only Spark's default protocol asks for: it has no effect",
                    Repair.remove(SparkSettings.OUTPUT_COMMITTER)));
  }

  private Optional<Problem> streaming() {
    Setting streaming = spark.streamingProtocol();
    // Its package differs between versions of Spark.
    if (streaming.value().endsWith(".ManifestFileCommitProtocol")) {
      return Optional.empty();
    }
    return Optional.of(
        Problem.warning(
            ProblemCode.STREAMING_PROTOCOL,
            "Streaming queries commit by "
                + streaming
                + ". Only Spark's own protocol keeps the log of a file sink, _spark_metadata,"
                + " without which a batch that is run again is in the table twice",
            Repair.set(SparkSettings.STREAMING_PROTOCOL, ClassNames.STREAMING_PROTOCOL)));
  }

  private boolean isStock() {
    return protocol.equals(ClassNames.STOCK_PROTOCOL);
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
      return Optional.of("cannot be loaded (" + Causes.message(e) + ")");
    }
  }

  private boolean loads(String className) {
    return ClassNames.loads(settings.loader(), className);
  }

  private static String simple(String className) {
    return className.substring(className.lastIndexOf('.') + 1);
  }
}
