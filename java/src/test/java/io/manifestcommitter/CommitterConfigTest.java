package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.CommitterConfig.MissingFiles;
import io.manifestcommitter.CommitterConfig.UnsupportedScheme;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommitterConfigTest {
  @Test
  void defaultsAreThoseOfTheUsageSeed() {
    CommitterConfig config = new CommitterConfig(new Configuration(false));

    assertThat(config.ioThreads()).isEqualTo(64);
    assertThat(config.deleteTargetFiles()).isFalse();
    assertThat(config.validateOutput()).isFalse();
    assertThat(config.summaryReportDirectory()).isEmpty();
    assertThat(config.parallelDelete()).isTrue();
    assertThat(config.markSuccessfulJobs()).isTrue();
    assertThat(config.cleanupSkipped()).isFalse();
    assertThat(config.cleanupFailuresIgnored()).isFalse();
    assertThat(config.missingFiles()).isEqualTo(MissingFiles.FAIL);
    assertThat(config.unsupportedScheme()).isEqualTo(UnsupportedScheme.FAIL);
  }

  @ParameterizedTest
  @CsvSource({
    "mapreduce.manifest.committer.io.threads",
    "mapreduce.manifest.committer.delete.target.files",
    "mapreduce.manifest.committer.validate.output",
    "mapreduce.manifest.committer.summary.report.directory",
    "mapreduce.manifest.committer.cleanup.parallel.delete",
    "mapreduce.manifest.committer.missing.files",
    "mapreduce.manifest.committer.unsupported.scheme",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs",
    "mapreduce.fileoutputcommitter.cleanup.skipped",
    "mapreduce.fileoutputcommitter.cleanup-failures.ignored"
  })
  void keysAreHadoopsOwn(String key) {
    assertThat(
            Stream.of(
                CommitterConfig.IO_THREADS,
                CommitterConfig.DELETE_TARGET_FILES,
                CommitterConfig.VALIDATE_OUTPUT,
                CommitterConfig.SUMMARY_REPORT_DIRECTORY,
                CommitterConfig.CLEANUP_PARALLEL_DELETE,
                CommitterConfig.MISSING_FILES,
                CommitterConfig.UNSUPPORTED_SCHEME,
                CommitterConfig.MARK_SUCCESSFUL_JOBS,
                CommitterConfig.CLEANUP_SKIPPED,
                CommitterConfig.CLEANUP_FAILURES_IGNORED))
        .contains(key);
  }

  @ParameterizedTest
  @MethodSource("flags")
  void eachFlagIsReadFromItsOwnKeyOnly(String key, Predicate<CommitterConfig> flag) {
    Configuration on = new Configuration(false);
    on.set(key, "true");
    Configuration off = new Configuration(false);
    off.set(key, "false");

    assertThat(flag.test(new CommitterConfig(on))).isTrue();
    assertThat(flag.test(new CommitterConfig(off))).isFalse();
  }

  @ParameterizedTest
  @MethodSource("flags")
  void aFlagIsNeitherGuessedNorIgnored(String key, Predicate<CommitterConfig> flag) {
    Configuration conf = new Configuration(false);
    conf.set(key, "yes");

    assertThatThrownBy(() -> flag.test(new CommitterConfig(conf)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(key, "'yes'", "true or false");
  }

  static Stream<Arguments> flags() {
    return Stream.of(
        flag(CommitterConfig.DELETE_TARGET_FILES, CommitterConfig::deleteTargetFiles),
        flag(CommitterConfig.VALIDATE_OUTPUT, CommitterConfig::validateOutput),
        flag(CommitterConfig.CLEANUP_PARALLEL_DELETE, CommitterConfig::parallelDelete),
        flag(CommitterConfig.MARK_SUCCESSFUL_JOBS, CommitterConfig::markSuccessfulJobs),
        flag(CommitterConfig.CLEANUP_SKIPPED, CommitterConfig::cleanupSkipped),
        flag(CommitterConfig.CLEANUP_FAILURES_IGNORED, CommitterConfig::cleanupFailuresIgnored));
  }

  @ParameterizedTest
  @ValueSource(strings = {"TRUE", " true ", "True"})
  void caseAndBlanksDoNotMatter(String value) {
    Configuration conf = new Configuration(false);
    conf.set(CommitterConfig.VALIDATE_OUTPUT, value);

    assertThat(new CommitterConfig(conf).validateOutput()).isTrue();
  }

  @Test
  void threadsAreTaken() {
    Configuration conf = new Configuration(false);
    conf.set(CommitterConfig.IO_THREADS, " 8 ");

    assertThat(new CommitterConfig(conf).ioThreads()).isEqualTo(8);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "many", "1.5", "99999999999"})
  void threadsHaveToBeAPositiveNumber(String value) {
    Configuration conf = new Configuration(false);
    conf.set(CommitterConfig.IO_THREADS, value);

    assertThatThrownBy(() -> new CommitterConfig(conf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(CommitterConfig.IO_THREADS, "'" + value + "'", "from 1 on");
  }

  @Test
  void aReportDirectoryIsAPath() {
    Configuration conf = new Configuration(false);
    conf.set(CommitterConfig.SUMMARY_REPORT_DIRECTORY, " gs://bucket/reports ");

    assertThat(new CommitterConfig(conf).summaryReportDirectory())
        .contains(new Path("gs://bucket/reports"));
  }

  @Test
  void anEmptyReportDirectoryIsNone() {
    Configuration conf = new Configuration(false);
    conf.set(CommitterConfig.SUMMARY_REPORT_DIRECTORY, "  ");

    assertThat(new CommitterConfig(conf).summaryReportDirectory()).isEmpty();
  }

  @Test
  void aReportDirectoryThatIsNoUriIsRefused() {
    Configuration conf = new Configuration(false);
    conf.set(CommitterConfig.SUMMARY_REPORT_DIRECTORY, "no scheme: at all");

    assertThatThrownBy(() -> new CommitterConfig(conf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(CommitterConfig.SUMMARY_REPORT_DIRECTORY, "no scheme: at all")
        .hasCauseInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void choicesAreTaken() {
    Configuration conf = new Configuration(false);
    conf.set(CommitterConfig.MISSING_FILES, "warn");
    conf.set(CommitterConfig.UNSUPPORTED_SCHEME, "Delegate");
    CommitterConfig config = new CommitterConfig(conf);

    assertThat(config.missingFiles()).isEqualTo(MissingFiles.WARN);
    assertThat(config.unsupportedScheme()).isEqualTo(UnsupportedScheme.DELEGATE);
  }

  @ParameterizedTest
  @CsvSource({
    "mapreduce.manifest.committer.missing.files, fail or warn",
    "mapreduce.manifest.committer.unsupported.scheme, fail or delegate"
  })
  void aWrongChoiceIsAnsweredWithWhatIsAllowed(String key, String allowed) {
    Configuration conf = new Configuration(false);
    conf.set(key, "ignore");

    assertThatThrownBy(() -> new CommitterConfig(conf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(key, "'ignore'", allowed);
  }

  private static Arguments flag(String key, Predicate<CommitterConfig> flag) {
    return Arguments.of(key, flag);
  }
}
