// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig.MissingFiles;
import io.manifestcommitter.config.CommitterConfig.UnsupportedScheme;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommitterConfigTest {
  private static final CommitterConfig DEFAULTS = new CommitterConfig(new Configuration(false));

  @Test
  void defaultsAreThoseThatHadoopDocuments() {
    CommitterConfig config = new CommitterConfig(new Configuration(false));

    assertThat(config.ioThreads).isEqualTo(64);
    assertThat(config.ioRate).isZero();
    assertThat(config.throttleTimeout).isEqualTo(600_000);
    assertThat(config.diagnosticsManifestDirectory).isEmpty();
    assertThat(config.manifestSaveAttempts).isEqualTo(5);
    assertThat(config.parallelDeleteBaseFirst).isFalse();
    assertThat(config.deleteTargetFiles).isFalse();
    assertThat(config.validateOutput).isFalse();
    assertThat(config.summaryReportDirectory).isEmpty();
    assertThat(config.parallelDelete).isTrue();
    assertThat(config.markSuccessfulJobs).isTrue();
    assertThat(config.cleanupSkipped).isFalse();
    assertThat(config.cleanupFailuresIgnored).isFalse();
    assertThat(config.missingFiles).isEqualTo(MissingFiles.FAIL);
    assertThat(config.unsupportedScheme).isEqualTo(UnsupportedScheme.FAIL);
  }

  @Test
  void theFallbackOfEveryOptionIsAllowed() {
    Configuration conf = new Configuration(false);
    CommitterConfig.options().forEach(option -> conf.set(option.key, option.fallback));

    assertThat(new CommitterConfig(conf)).usingRecursiveComparison().isEqualTo(DEFAULTS);
  }

  @ParameterizedTest
  @CsvSource({"10s,15s", "30s,45s", "0s,45s"})
  void aHeartbeatThatComesTooSeldomIsRefused(String interval, String timeout) {
    Configuration conf = new Configuration(false);
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, interval);
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, timeout);

    assertThatThrownBy(() -> new CommitterConfig(conf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(CommitterConfig.HEARTBEAT_TIMEOUT)
        .hasMessageContaining(timeout)
        .hasMessageContaining(CommitterConfig.HEARTBEAT_INTERVAL);
  }

  @Test
  void theDocumentationListsThem() throws Exception {
    assertThat(Path.of("docs", "using", "options.md"))
        .as("written by 'make docs'")
        .hasContent(OptionsPage.text());
  }

  @ParameterizedTest
  @MethodSource("flags")
  void eachFlagIsReadFromItsOwnKeyOnly(String key, Predicate<CommitterConfig> flag) {
    assertThat(flag.test(config(key, "true"))).isTrue();
    assertThat(flag.test(config(key, "false"))).isFalse();
  }

  @ParameterizedTest
  @MethodSource("flags")
  void aFlagIsNeitherGuessedNorIgnored(String key, Predicate<CommitterConfig> flag) {
    assertThatThrownBy(() -> flag.test(config(key, "yes")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(key, "'yes'", "true or false");
  }

  static Stream<Arguments> flags() {
    return Stream.of(
        flag(CommitterConfig.DELETE_TARGET_FILES, config -> config.deleteTargetFiles),
        flag(CommitterConfig.VALIDATE_OUTPUT, config -> config.validateOutput),
        flag(CommitterConfig.CLEANUP_PARALLEL_DELETE, config -> config.parallelDelete),
        flag(
            CommitterConfig.CLEANUP_PARALLEL_DELETE_BASE_FIRST,
            config -> config.parallelDeleteBaseFirst),
        flag(CommitterConfig.MARK_SUCCESSFUL_JOBS, config -> config.markSuccessfulJobs),
        flag(CommitterConfig.CLEANUP_SKIPPED, config -> config.cleanupSkipped),
        flag(CommitterConfig.CLEANUP_FAILURES_IGNORED, config -> config.cleanupFailuresIgnored));
  }

  @ParameterizedTest
  @ValueSource(strings = {"TRUE", " true ", "True"})
  void caseAndBlanksDoNotMatter(String value) {
    assertThat(config(CommitterConfig.VALIDATE_OUTPUT, value).validateOutput).isTrue();
  }

  @ParameterizedTest
  @MethodSource("numbers")
  void eachNumberIsReadFromItsOwnKeyOnly(String key, ToIntFunction<CommitterConfig> number) {
    assertThat(number.applyAsInt(config(key, " 8 "))).isEqualTo(8);
    assertThat(number.applyAsInt(DEFAULTS)).isNotEqualTo(8);
  }

  @ParameterizedTest
  @MethodSource("numbers")
  void aNumberIsNeitherGuessedNorIgnored(String key, ToIntFunction<CommitterConfig> number) {
    for (String value : List.of("-1", "many", "1.5", "99999999999")) {
      Configuration conf = new Configuration(false);
      conf.set(key, value);

      assertThatThrownBy(() -> number.applyAsInt(new CommitterConfig(conf)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll(key, "'" + value + "'", "a whole number from");
    }
  }

  @ParameterizedTest
  @MethodSource("numbers")
  void onlyARateMayBeNothing(String key, ToIntFunction<CommitterConfig> number) {
    if (key.equals(CommitterConfig.IO_RATE)) {
      assertThat(number.applyAsInt(config(key, "0"))).isZero();
    } else {
      assertThatThrownBy(() -> number.applyAsInt(config(key, "0")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll(key, "'0'", "from 1 on");
    }
  }

  @ParameterizedTest
  @CsvSource({"250ms, 250", "0s, 0", "90s, 90000", " 2m , 120000", "1h, 3600000"})
  void aTimeHasAUnit(String value, long millis) {
    assertThat(config(CommitterConfig.THROTTLE_TIMEOUT, value).throttleTimeout).isEqualTo(millis);
  }

  @ParameterizedTest
  @ValueSource(strings = {"10", "-1s", "1.5m", "1d", "forever", "9999999999h"})
  void aTimeIsNeitherGuessedNorIgnored(String value) {
    assertThatThrownBy(() -> config(CommitterConfig.THROTTLE_TIMEOUT, value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(CommitterConfig.THROTTLE_TIMEOUT, "'" + value + "'", "90s");
  }

  static Stream<Arguments> numbers() {
    return Stream.of(
        number(CommitterConfig.IO_THREADS, config -> config.ioThreads),
        number(CommitterConfig.IO_RATE, config -> config.ioRate),
        number(CommitterConfig.MANIFEST_SAVE_ATTEMPTS, config -> config.manifestSaveAttempts));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "org.apache.hadoop.fs.azurebfs.commit.AbfsManifestStoreOperations",
        "org.apache.hadoop.mapreduce.lib.output.committer.manifest.impl"
            + ".ManifestStoreOperationsThroughFileSystem"
      })
  void hadoopsNamesOfStoresAreTaken(String name) {
    assertThat(config(CommitterConfig.STORE_OPERATIONS_CLASS, name)).isNotNull();
  }

  @Test
  void anotherClassIsAnsweredWithThoseThatAreTaken() {
    assertThatThrownBy(() -> config(CommitterConfig.STORE_OPERATIONS_CLASS, "com.example.MyStore"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(
            CommitterConfig.STORE_OPERATIONS_CLASS,
            "'com.example.MyStore'",
            "AbfsManifestStoreOperations");
  }

  @ParameterizedTest
  @MethodSource("directories")
  void aDirectoryIsAPathOrNothing(
      String key, Function<CommitterConfig, Optional<org.apache.hadoop.fs.Path>> directory) {
    Configuration conf = new Configuration(false);
    conf.set(key, " gs://bucket/reports ");
    assertThat(directory.apply(new CommitterConfig(conf)))
        .contains(new org.apache.hadoop.fs.Path("gs://bucket/reports"));

    conf.set(key, "  ");
    assertThat(directory.apply(new CommitterConfig(conf))).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("directories")
  void aDirectoryThatIsNoUriIsRefused(
      String key, Function<CommitterConfig, Optional<org.apache.hadoop.fs.Path>> directory) {
    assertThatThrownBy(() -> directory.apply(config(key, "no scheme: at all")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(key, "no scheme: at all")
        .hasCauseInstanceOf(IllegalArgumentException.class);
  }

  static Stream<Arguments> directories() {
    return Stream.of(
        directory(
            CommitterConfig.SUMMARY_REPORT_DIRECTORY, config -> config.summaryReportDirectory),
        directory(
            CommitterConfig.DIAGNOSTICS_MANIFEST_DIRECTORY,
            config -> config.diagnosticsManifestDirectory));
  }

  @Test
  void choicesAreTaken() {
    Configuration conf = new Configuration(false);
    conf.set(CommitterConfig.MISSING_FILES, "warn");
    conf.set(CommitterConfig.UNSUPPORTED_SCHEME, "Delegate");
    CommitterConfig config = new CommitterConfig(conf);

    assertThat(config.missingFiles).isEqualTo(MissingFiles.WARN);
    assertThat(config.unsupportedScheme).isEqualTo(UnsupportedScheme.DELEGATE);
  }

  @ParameterizedTest
  @CsvSource({
    "mapreduce.manifest.committer.missing.files, fail or warn",
    "mapreduce.manifest.committer.gs.requests, direct or filesystem",
    "mapreduce.manifest.committer.unsupported.scheme, fail or delegate"
  })
  void aWrongChoiceIsAnsweredWithWhatIsAllowed(String key, String allowed) {
    assertThatThrownBy(() -> config(key, "ignore"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(key, "'ignore'", allowed);
  }

  @Test
  void aSchemeIsNoUri() {
    Configuration conf = new Configuration(false);
    conf.set(CommitterConfig.ATOMIC_RENAME_SCHEMES, "ofs://");
    assertThatThrownBy(() -> new CommitterConfig(conf)).hasMessageContaining("'ofs://'");
  }

  @ParameterizedTest
  @CsvSource({
    "mapreduce.manifest.committer.conflict.mod, conflict.mode",
    "mapreduce.manifest.committer.conflict_mode, conflict.mode",
    "mapreduce.manifest.committer.conflictMode, conflict.mode",
    "Mapreduce.Manifest.Committer.Conflict.Mode, conflict.mode",
    "mapreduce.manifest.committer.threads, io.threads",
    "mapreduce.manifest.commiter.directory.rename, directory.rename",
    "mapreduce.manfest.committer.directory.rename, directory.rename",
    "manifest.committer.directory.rename, directory.rename",
    "directory.rename, directory.rename",
    "Directory.Rename, directory.rename",
  })
  void aMistypedKeyIsAnsweredWithTheOneThatWasMeant(String key, String meant) {
    Configuration conf = new Configuration(false);
    conf.set(key, "off");

    assertThatThrownBy(() -> UnknownOption.refuse(conf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(key, "set in the program", CommitterConfig.PREFIX + meant);
    assertThat(UnknownOption.in(conf))
        .extracting(one -> one.meant.orElse(""))
        .containsExactly(CommitterConfig.PREFIX + meant);
  }

  @Test
  void aKeyThatIsLikeNoOptionIsRefusedWithoutAGuess() {
    Configuration conf = new Configuration(false);
    conf.set(CommitterConfig.PREFIX + "colour", "blue", "from command line");

    assertThatThrownBy(() -> UnknownOption.refuse(conf))
        .hasMessageContainingAll("colour (set by command line)", "no such option", "options.md");
    assertThat(UnknownOption.in(conf).get(0).meant).isEmpty();
  }

  @Test
  void allOptionsAndTheKeysOfOthersAreKnown() {
    Configuration conf = new Configuration();
    CommitterConfig.options().forEach(option -> conf.set(option.key, option.fallback));
    for (String others :
        List.of(
            "mapreduce.fileoutputcommitter.algorithm.version",
            "mapreduce.fileoutputcommitter.task.cleanup.enabled",
            "mapreduce.outputcommitter.factory.scheme.abfs",
            "mapreduce.job.committer.setup.cleanup.needed",
            "spark.hadoop.fs.defaultFS",
            "path.rename",
            "directory.renamed",
            "io.thread")) {
      conf.set(others, "1");
    }

    assertThat(UnknownOption.in(conf)).isEmpty();
  }

  @Test
  void aShortNameIsAnotherLibrarysWhereTheWholeKeyIsSetToo() {
    Configuration conf = new Configuration(false);
    conf.set("conflict.mode", "theirs");
    assertThat(UnknownOption.in(conf)).hasSize(1);

    conf.set(CommitterConfig.CONFLICT_MODE, "append");

    assertThat(UnknownOption.in(conf)).isEmpty();
  }

  @Test
  void whatSiteFilesSetIsAWarning(@TempDir Path directory) throws Exception {
    Path site = directory.resolve("core-site.xml");
    Configuration written = new Configuration(false);
    written.set(CommitterConfig.PREFIX + "of.a.newer.jar", "1");
    // As Hive on Spark reads it.
    written.set("spark.hadoop." + CommitterConfig.DIRECTORY_RENAME, "off");
    written.set(CommitterConfig.PREFIX + "io.thread.count", "1");
    written.set("heartbeat.interval", "of another program");
    // As people write them, without sources.
    try (Writer out = Files.newBufferedWriter(site)) {
      out.write("<configuration>");
      written.forEach(
          one -> append(out, "<property><name>%s</name><value>%s</value></property>", one));
      out.write("</configuration>");
    }
    Configuration conf = new Configuration(false);
    conf.addResource(new org.apache.hadoop.fs.Path(site.toUri()));

    UnknownOption.refuse(conf);
    assertThat(UnknownOption.in(conf))
        .extracting(one -> one.key)
        .containsExactly(
            CommitterConfig.PREFIX + "io.thread.count",
            CommitterConfig.PREFIX + "of.a.newer.jar",
            "spark.hadoop." + CommitterConfig.DIRECTORY_RENAME);
    assertThat(UnknownOption.in(conf).get(1).toString()).contains("core-site.xml");

    // In the file of a job, both keep where they come from.
    conf.set(CommitterConfig.PREFIX + "of.this.job", "1");
    Path job = directory.resolve("job.xml");
    try (Writer out = Files.newBufferedWriter(job)) {
      conf.writeXml(out);
    }
    Configuration inTheMaster = new Configuration(false);
    inTheMaster.addResource(new org.apache.hadoop.fs.Path(job.toUri()));
    assertThat(UnknownOption.in(inTheMaster))
        .filteredOn(one -> one.refused)
        .extracting(one -> one.key)
        .containsExactly(CommitterConfig.PREFIX + "of.this.job");
  }

  /** Such a key goes into the session's settings, where Hadoop does not look for it. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {"none, true", "off, false", "auto, true"})
  void aSettingForSparksStartIsRefusedWhereSparkRuns(String atStart, boolean refused) {
    Configuration conf = new Configuration(false);
    if (atStart != null) {
      String source = "Set by Spark from keys starting with 'spark.hadoop'";
      conf.set(CommitterConfig.DIRECTORY_RENAME, atStart, source);
    }
    conf.set("spark.hadoop." + CommitterConfig.DIRECTORY_RENAME, "off");

    assertThat(UnknownOption.in(conf)).hasSize(refused ? 1 : 0);
    assertThat(UnknownOption.in(conf))
        .allMatch(one -> one.meant.get().equals(CommitterConfig.DIRECTORY_RENAME));
  }

  private static void append(Writer out, String format, Map.Entry<String, String> property) {
    try {
      out.write(String.format(format, property.getKey(), property.getValue()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Arguments flag(String key, Predicate<CommitterConfig> flag) {
    return Arguments.of(key, flag);
  }

  private static Arguments number(String key, ToIntFunction<CommitterConfig> number) {
    return Arguments.of(key, number);
  }

  private static Arguments directory(
      String key, Function<CommitterConfig, Optional<org.apache.hadoop.fs.Path>> directory) {
    return Arguments.of(key, directory);
  }

  private static CommitterConfig config(String key, String value) {
    Configuration conf = new Configuration(false);
    conf.set(key, value);
    return new CommitterConfig(conf);
  }
}
