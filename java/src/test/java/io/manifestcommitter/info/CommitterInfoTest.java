// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommitterInfoTest {
  private static final String FILE_KEY = FactoryBinding.key("file");
  private static final String FACTORY = FILE_KEY + "=" + ClassNames.FACTORY;
  private static final String PROTOCOL = SparkSettings.PROTOCOL + "=" + ClassNames.PROTOCOL;

  @TempDir private Path directory;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void aBoundPathIsPrintedPlainly() {
    String table = "file:" + directory + "/table";

    assertThat(run("-D", FACTORY, table)).isZero();

    assertThat(output().lines().map(line -> line.strip().replaceAll("[\",]", "")))
        .startsWith(table + ": ok", "{", "path : " + table)
        .contains(
            "committer : io.manifestcommitter.ManifestCommitter",
            "factory : io.manifestcommitter.ManifestCommitterFactory",
            "factoryKey : " + FILE_KEY,
            "factorySource : the command line",
            "jobDirectory : " + table + "/_temporary/manifest_job_info_0001/00",
            "fileSystem : org.apache.hadoop.fs.LocalFileSystem",
            "version : " + ClassNames.version(),
            "hadoopVersion : " + VersionInfo.getVersion(),
            "problems : [ ]");
    assertThat(errors()).isEmpty();
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void problemsArePrintedWithTheirRepair() {
    assertThat(run("file:/table")).isEqualTo(1);

    assertThat(output())
        .startsWith("file:/table: not ok\n")
        .contains("\"severity\" : \"error\"", "\"code\" : \"no-factory\"")
        .contains("\"text\" : \"No committer factory is bound for file://")
        .contains("\"" + FILE_KEY + "\" : \"" + ClassNames.FACTORY + "\"");
  }

  @Test
  void aFileOfSparksSettings() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("spark-defaults.conf"),
            "# a comment\n"
                + SparkSettings.PROTOCOL
                + "  "
                + ClassNames.PROTOCOL
                + "  \nspark.hadoop."
                + FILE_KEY
                + "="
                + ClassNames.FACTORY
                + "\nspark.jars /x/manifest-committer-1.jar\n");

    assertThat(run("--properties-file", file.toString(), "file:/table")).isZero();

    assertThat(output())
        .startsWith("file:/table: ok\n")
        .contains("\"value\" : \"" + ClassNames.PROTOCOL + "\",\n    \"source\" : \"" + file)
        .contains("spark.hadoop." + FILE_KEY + ", " + file);
  }

  @ParameterizedTest
  @CsvSource({
    "abfs.conf, abfs://c@a.dfs.core.windows.net/table",
    "abfs.conf, abfss://c@a.dfs.core.windows.net/table",
    "gs.conf, gs://bucket/table",
    "hdfs.conf, hdfs://name/table",
    "local.conf, file:/table"
  })
  void theSettingsThatWeShipLeaveNothingToRepair(String file, String table) {
    List<String> args = new ArrayList<>();
    args.addAll(List.of("--properties-file", "spark-conf/" + file));
    args.addAll(List.of("-D", "spark.jars=/x/manifest-committer-1.jar"));
    for (String scheme : List.of("abfss", "hdfs")) {
      args.addAll(List.of("-D", "fs." + scheme + ".impl=" + MemoryFileSystem.class.getName()));
    }

    assertThat(run(args, table)).isZero();

    assertThat(output()).startsWith(table + ": ok\n").doesNotContain("repair");
  }

  @Test
  void theCommandLineComesBeforeTheFile() throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("conf"),
            PROTOCOL + "\nspark.hadoop." + FACTORY + "\nspark.jars manifest-committer.jar");

    assertThat(
            run(
                "--properties-file",
                file.toString(),
                "-Dspark.hadoop." + FILE_KEY + "=",
                "-D" + SparkSettings.PROTOCOL + "=" + ClassNames.SPARK_PROTOCOL,
                "file:/table"))
        .isEqualTo(1);

    assertThat(output()).contains("\"code\" : \"no-factory\"", "\"code\" : \"spark-protocol\"");
  }

  @Test
  void underSparkSubmitSparksDefaultsHold() {
    System.setProperty("spark.master", "local");
    System.setProperty("spark.hadoop." + FILE_KEY, ClassNames.FACTORY);
    try {
      assertThat(run("file:/table")).isEqualTo(1);
    } finally {
      System.clearProperty("spark.master");
      System.clearProperty("spark.hadoop." + FILE_KEY);
    }

    assertThat(output())
        .contains("spark.hadoop." + FILE_KEY + ", spark-submit")
        .contains("\"value\" : \"" + ClassNames.SPARK_PROTOCOL, "\"source\" : \"Spark's default")
        .contains("\"code\" : \"spark-protocol\"")
        .doesNotContain("jar-missing");
  }

  @Test
  void jsonHasAllKeysForEachPath() throws IOException {
    assertThat(
            run(
                "--json",
                "-D",
                FACTORY,
                "-D",
                "mapreduce.manifest.committer.io.threads=8",
                "-D",
                "mapreduce.manifest.committer.validate.output=false",
                "file:/täble",
                "a:b"))
        .isEqualTo(1);

    List<JsonNode> lines = new ArrayList<>();
    for (String line : output().lines().collect(Collectors.toList())) {
      lines.add(new ObjectMapper().readTree(line));
    }
    assertThat(output()).isASCII().contains("t\\u00E4ble");
    assertThat(lines).hasSize(2);
    List<String> keys = List.of(names(lines.get(0)));
    assertThat(keys)
        .containsExactly(
            "path",
            "scheme",
            "ok",
            "served",
            "version",
            "hadoopVersion",
            "fileSystem",
            "fileSystemJar",
            "committer",
            "description",
            "jobDirectory",
            "workPath",
            "factory",
            "factoryKey",
            "factorySource",
            "commitProtocol",
            "parquetCommitter",
            "outputCommitter",
            "streamingProtocol",
            "options",
            "watching",
            "problems");
    assertThat(List.of(names(lines.get(1)))).isEqualTo(keys);
    assertThat(lines.get(0).get("ok").asBoolean()).isTrue();
    assertThat(lines.get(0).get("path").asText()).isEqualTo("file:/täble");
    assertThat(lines.get(0).get("committer").asText()).isEqualTo(ClassNames.COMMITTER);
    assertThat(lines.get(0).get("fileSystem").asText()).endsWith(".LocalFileSystem");
    assertThat(lines.get(0).get("commitProtocol").isNull()).isTrue();
    assertThat(lines.get(0).get("watching").toString()).as("no Spark runs here").isEqualTo("{}");
    JsonNode options = lines.get(0).get("options");
    assertThat(List.of(names(options)))
        .containsExactly(
            "mapreduce.manifest.committer.io.threads",
            "mapreduce.manifest.committer.validate.output");
    JsonNode threads = options.get("mapreduce.manifest.committer.io.threads");
    assertThat(List.of(names(threads))).containsExactly("value", "source", "default", "meaning");
    assertThat(threads.get("value").asText()).isEqualTo("8");
    assertThat(threads.get("source").asText()).isEqualTo("the command line");
    assertThat(threads.get("default").asText()).isEqualTo("64");
    assertThat(threads.get("meaning").asText()).startsWith("Maximum requests at the same time");
    assertThat(lines.get(1).get("ok").asBoolean()).isFalse();
    assertThat(lines.get(1).get("factory").isNull()).isTrue();
    assertThat(lines.get(1).get("problems").get(0).get("code").asText()).isEqualTo("unusable-path");
  }

  @Test
  void aRepairInJson() throws IOException {
    assertThat(run("--json", "file:/table")).isEqualTo(1);

    JsonNode problem = new ObjectMapper().readTree(output()).get("problems").get(0);
    assertThat(problem.get("severity").asText()).isEqualTo("error");
    assertThat(problem.get("code").asText()).isEqualTo("no-factory");
    assertThat(problem.get("repair").toString())
        .isEqualTo(
            "{\"settings\":{\""
                + FILE_KEY
                + "\":\""
                + ClassNames.FACTORY
                + "\"},\"jar\":null,\"path\":null}");
  }

  @Test
  void namesCannotCommandTheTerminal() {
    assertThat(run("-D", FACTORY, "file:/a\u001b[2Jb\nc")).isZero();

    assertThat(output()).startsWith("file:/a\\u001b[2Jb\\nc: ok\n").doesNotContain("\u001b");
  }

  @Test
  void wrongUsageIsExplained() {
    assertThat(run()).isEqualTo(2);
    assertThat(run("--json")).isEqualTo(2);
    assertThat(run("--nonsense", "file:/t")).isEqualTo(2);
    assertThat(run("-D", "key", "file:/t")).isEqualTo(2);
    assertThat(run("--properties-file", directory + "/none", "file:/t")).isEqualTo(2);
    assertThat(run("--properties-file")).isEqualTo(2);

    assertThat(output()).isEmpty();
    assertThat(errors())
        .contains("a path is missing", "no option --nonsense", "-D needs key=value")
        .contains("--properties-file needs a readable file of settings, not '" + directory)
        .contains("Usage: CommitterInfo");
  }

  @Test
  void helpIsNoError() {
    assertThat(run("--help")).isZero();

    assertThat(output()).startsWith("Usage: CommitterInfo").contains("Exit code");
  }

  @Test
  void aSessionIsAskedByPython() throws IOException {
    Configuration jobs = new Configuration();
    jobs.set(FILE_KEY, ClassNames.FACTORY);

    String answer =
        CommitterInfo.ofSession(
            jobs,
            jobs,
            getClass().getClassLoader(),
            "{\""
                + SparkSettings.PROTOCOL
                + "\":{\"value\":\""
                + ClassNames.PROTOCOL
                + "\",\"source\":\"this session\"}}",
            "file:/table",
            "/x.jar");

    JsonNode parsed = new ObjectMapper().readTree(answer);
    assertThat(parsed.get("ok").asBoolean()).isTrue();
    assertThat(parsed.get("commitProtocol").get("source").asText()).isEqualTo("this session");
  }

  @Test
  void aConnectServerKnowsTheSessionsSettingsOnly() throws IOException {
    String settings =
        "{\"spark.hadoop."
            + FactoryBinding.key("gs")
            + "\":{\"value\":\"no.such.Factory\",\"source\":\"this session\"},\""
            + FactoryBinding.key("gs")
            + "\":{\"value\":\""
            + ClassNames.FACTORY
            + "\",\"source\":\"this session\"},\""
            + SparkSettings.PROTOCOL
            + "\":{\"value\":\""
            + ClassNames.PROTOCOL
            + "\",\"source\":\"this session\"}}";

    JsonNode report =
        new ObjectMapper()
            .readTree(CommitterInfo.ofConnect(settings, "gs://bucket/table", "/x.jar"));

    assertThat(report.get("ok").asBoolean()).as("no store is opened").isTrue();
    assertThat(report.get("committer").isNull()).isTrue();
    assertThat(report.get("fileSystem").isNull()).isTrue();
    assertThat(report.get("factory").asText()).isEqualTo(ClassNames.FACTORY);
    assertThat(report.get("factorySource").asText()).isEqualTo("this session");
  }

  /** The rule is Hadoop's; ours must name the same class. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "file:/t, -, -",
        "file:/t, io.manifestcommitter.ManifestCommitterFactory, -",
        "file:/t, '  ', io.manifestcommitter.ManifestCommitterFactory",
        "file:/t, -, io.manifestcommitter.ManifestCommitterFactory",
        "/t, io.manifestcommitter.ManifestCommitterFactory, -",
        "/t, -, io.manifestcommitter.ManifestCommitterFactory",
        "FILE:/t, io.manifestcommitter.ManifestCommitterFactory, -",
        "gs://b/t, io.manifestcommitter.ManifestCommitterFactory, -"
      })
  void theFactoryIsTheOneThatJobsGet(String name, String forFile, String forAll) {
    Configuration conf = new JobConf();
    if (forFile != null) {
      conf.set(FILE_KEY, forFile);
    }
    if (forAll != null) {
      conf.set(FactoryBinding.FOR_ALL, forAll);
    }
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(name);

    assertThat(FactoryBinding.of(conf, path).className)
        .isEqualTo(PathOutputCommitterFactory.getCommitterFactory(path, conf).getClass().getName());
  }

  private static String[] names(JsonNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names.toArray(new String[0]);
  }

  private int run(String... args) {
    return new CommitterInfo(new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8))
        .run(Arrays.copyOf(args, args.length));
  }

  private int run(List<String> args, String path) {
    List<String> all = new ArrayList<>(args);
    all.add(path);
    return run(all.toArray(new String[0]));
  }

  private String output() {
    return out.toString(UTF_8);
  }

  private String errors() {
    return err.toString(UTF_8);
  }
}
