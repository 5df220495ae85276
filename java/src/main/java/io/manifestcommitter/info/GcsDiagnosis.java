// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.Setting;
import io.manifestcommitter.store.GcsRequests;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.VersionInfo;

/** What is wrong with the settings of the connectors for Google Cloud Storage. */
final class GcsDiagnosis {
  static final String IMPL = "fs.gs.impl";
  static final String BLOCK_SIZE = "fs.gs.block.size";

  private static final String ABSTRACT_IMPL = "fs.AbstractFileSystem.gs.impl";
  private static final String MOVE = "fs.gs.operation.move.enable";
  private static final String CHECKSUM = "fs.gs.checksum.type";
  private static final String PARALLEL_STATUS = "fs.gs.status.parallel.enable";
  private static final String PARENT_REPAIR = "fs.gs.implicit.dir.repair.enable";
  private static final String OPEN_OPTIONS = "org/apache/hadoop/fs/Options$OpenFileOptions";
  private static final long DEFAULT_BLOCK_SIZE = 64 << 20;

  private final Configuration conf;
  private final Path path;

  /** Of Google's connector. */
  GcsDiagnosis(Configuration conf, Path path) {
    this.conf = conf;
    this.path = path;
  }

  /** Binds Google's connector, for users of FileSystem and of FileContext. */
  static Repair bindGoogles() {
    return Repair.set(IMPL, ClassNames.GOOGLES_GS)
        .andSet(ABSTRACT_IMPL, ClassNames.GOOGLES_ABSTRACT_GS);
  }

  /** That gs:// is served by hadoop-gcp, which is there. */
  static Problem hadoopsConnector(Configuration conf, Setting bound) {
    boolean googlesIsThere = ClassNames.loads(conf.getClassLoader(), ClassNames.GOOGLES_GS);
    Repair repair = bindGoogles();
    return Problem.warning(
        ProblemCode.GCS_HADOOPS_CONNECTOR,
        "gs:// is served by Hadoop's own connector (hadoop-gcp), since "
            + IMPL
            + " is "
            + bound
            + (googlesIsThere
                ? "; Google's, a class of the same name, is on the class path too and unused"
                : "")
            + ". It takes other settings than Google's, and the committer has not been tested with"
            + " it",
        googlesIsThere ? repair : repair.andJar(ClassNames.jarOf(ClassNames.GOOGLES_GS)));
  }

  /** All that is wrong. */
  List<Problem> problems() {
    Optional<GcsRequests.Obstacle> obstacle = obstacle();
    Stream<Optional<Problem>> byRequests =
        obstacle.isPresent()
            ? Stream.of(obstacle.map(this::fileSystemCalls), move(), checksum())
            : Stream.of(refusedMove());
    return Stream.concat(Stream.of(blockSize(), newerHadoop(), requests()), byRequests)
        .flatMap(Optional::stream)
        .collect(Collectors.toList());
  }

  private Optional<GcsRequests.Obstacle> obstacle() {
    Class<?> connector = conf.getClassByNameOrNull(ClassNames.GOOGLES_GS);
    return connector == null ? Optional.empty() : GcsRequests.whyNotDirect(connector, conf);
  }

  private Problem fileSystemCalls(GcsRequests.Obstacle obstacle) {
    return Problem.note(
        ProblemCode.GCS_FILESYSTEM_CALLS,
        "The committer asks Google Cloud Storage by FileSystem calls: five requests for each file"
            + " that is renamed rather than one. It cannot use the client of Google's connector ("
            + obstacle.reason()
            + "). Versions 3.1.3 and 4.0.0 of the connector, and newer ones, have it",
        obstacle.setting().map(key -> Repair.set(key, obstacle.value())).orElseGet(Repair::none));
  }

  /** The connector reads this one by {@code getLong}; its other sizes may have a unit. */
  private Optional<Problem> blockSize() {
    try {
      conf.getLong(BLOCK_SIZE, DEFAULT_BLOCK_SIZE);
      return Optional.empty();
    } catch (NumberFormatException e) {
      return Optional.of(
          Problem.error(
              ProblemCode.GCS_BLOCK_SIZE,
              BLOCK_SIZE
                  + " is "
                  + FactoryBinding.setting(conf, BLOCK_SIZE).map(Setting::toString).orElse("")
                  + ", which Google's connector cannot parse: it does not open, and no job can"
                  + " write there. It takes a plain number of bytes",
              Repair.set(BLOCK_SIZE, String.valueOf(bytes()))));
    }
  }

  private long bytes() {
    try {
      return conf.getLongBytes(BLOCK_SIZE, DEFAULT_BLOCK_SIZE);
    } catch (IllegalArgumentException e) {
      return DEFAULT_BLOCK_SIZE;
    }
  }

  /**
   * Hadoop's readers of lines open files with options, of a class that came with 3.3.5. Versions 3
   * and 4 of the connector are built for that, and fail only when they need it.
   */
  private Optional<Problem> newerHadoop() {
    ClassLoader loader = conf.getClassLoader();
    if (ClassNames.loads(loader, OPEN_OPTIONS.replace('/', '.'))
        || !names(loader, ClassNames.GOOGLES_GS, OPEN_OPTIONS)) {
      return Optional.empty();
    }
    return Optional.of(
        Problem.warning(
            ProblemCode.GCS_NEEDS_NEWER_HADOOP,
            "This version of Google's connector is built for Hadoop 3.3.5 and newer, and this is "
                + VersionInfo.getVersion()
                + ": reading CSV, JSON and text files fails (NoClassDefFoundError: "
                + OPEN_OPTIONS
                + "). Writing works, and so does reading Parquet and ORC. Use a newer Hadoop, or"
                + " version 2.2 of the connector",
            Repair.none()));
  }

  /** Whether a class refers to another one, by the text of its class file; loads neither. */
  private static boolean names(ClassLoader loader, String className, String other) {
    try (InputStream file = loader.getResourceAsStream(className.replace('.', '/') + ".class")) {
      return file != null
          && new String(file.readAllBytes(), StandardCharsets.ISO_8859_1).contains(other);
    } catch (IOException e) {
      return false;
    }
  }

  private Optional<Problem> move() {
    if (conf.getBoolean(MOVE, false) || new Stores(conf).isVouchedFor(path)) {
      return Optional.empty();
    }
    Optional<Setting> set = FactoryBinding.setting(conf, MOVE);
    String consequence =
        "a file is renamed by a copy and a deletion, of which a driver that dies may leave both, so"
            + " jobs are refused when they start";
    Repair repair = Repair.set(MOVE, "true");
    return Optional.of(
        set.isPresent()
            ? Problem.warning(
                ProblemCode.GCS_NO_MOVE, MOVE + " is " + set.get() + ": " + consequence, repair)
            : Problem.note(
                ProblemCode.GCS_NO_MOVE,
                MOVE
                    + " is not set, and its default differs between releases of the connector."
                    + " Where it is false, "
                    + consequence,
                repair));
  }

  private Optional<Problem> refusedMove() {
    return FactoryBinding.setting(conf, MOVE)
        .filter(set -> !conf.getBoolean(MOVE, true))
        .map(
            set ->
                Problem.error(
                    ProblemCode.GCS_NO_MOVE,
                    MOVE + " is " + set + ": jobs are refused, since the committer moves objects",
                    Repair.set(MOVE, "true")));
  }

  private Optional<Problem> requests() {
    Repair repair = Repair.none();
    for (String key : List.of(PARALLEL_STATUS, PARENT_REPAIR)) {
      if (conf.getBoolean(key, true)) {
        repair = repair.andSet(key, "false");
      }
    }
    return repair.settings().isEmpty()
        ? Optional.empty()
        : Optional.of(
            Problem.note(
                ProblemCode.GCS_REQUESTS,
                "The connector makes more requests than are needed: it looks for files and"
                    + " directories of a name at once, and after each rename and deletion for the"
                    + " parent directories",
                repair));
  }

  private Optional<Problem> checksum() {
    String type = conf.getTrimmed(CHECKSUM, "NONE");
    return type.equals("NONE")
        ? Optional.of(
            Problem.note(
                ProblemCode.GCS_NO_CHECKSUM,
                CHECKSUM
                    + " is "
                    + type
                    + ": a rename whose answer was lost can be proven by the length of the file"
                    + " only, not by its content",
                Repair.set(CHECKSUM, "CRC32C")))
        : Optional.empty();
  }
}
