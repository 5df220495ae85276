// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import static io.manifestcommitter.info.FactoryBinding.key;
import static io.manifestcommitter.info.SparkSettings.PROTOCOL;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.manifestcommitter.ManifestCommitterFactory;
import io.manifestcommitter.cli.CommandLine.Setting;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.info.JobSettings.Origin;
import io.manifestcommitter.info.Problem.Repair;
import io.manifestcommitter.info.Problem.Severity;
import io.manifestcommitter.store.GcsStore;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.spark.internal.io.HadoopMapReduceCommitProtocol;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every problem: made to appear, and to disappear again by nothing but what its repair names. Texts
 * that no longer repair what they are about fail here.
 */
class CommitterInfoProblemsTest {
  private static final String HADOOPS_FACTORY =
      "org.apache.hadoop.mapreduce.lib.output.committer.manifest.ManifestCommitterFactory";

  private static final String ABFS = "abfs://c@a.dfs.core.windows.net/table";
  private static final String GS = "gs://bucket/table";
  private static final String GOOGLES_PACKAGE = "com.google.cloud.hadoop.";
  private static final String HADOOPS_GS_PACKAGE = "org.apache.hadoop.fs.gs.";
  private static final String ALGORITHM = "mapreduce.fileoutputcommitter.algorithm.version";
  private static final String JAR = "/jars/manifest-committer-x.jar";
  private static final String GLUTEN = "org.apache.gluten.GlutenPlugin";
  private static final String COMET = "org.apache.spark.CometPlugin";

  /** What is set wrong to get each problem, from a world in which all is well. */
  private static final Map<String, Consumer<World>> CAUSES = new HashMap<>();

  static {
    cause("unusable-path", world -> world.path = "a:b");
    cause("unsupported-store", world -> world.path = "wasbs://c@a.blob.x/t");
    cause("jar-missing", world -> world.missing.add("io.manifestcommitter."));
    cause(
        "spark-protocol-not-found", world -> world.spark.put(PROTOCOL, ClassNames.STOCK_PROTOCOL));
    cause("spark-protocol", world -> world.spark.remove(PROTOCOL));
    cause(
        "parquet-committer-not-found",
        world ->
            world.spark.put(SparkSettings.PARQUET_COMMITTER, ClassNames.STOCK_PARQUET_COMMITTER));
    cause("no-scheme", world -> world.path = "/table");
    cause("no-factory", world -> world.set(key("abfs"), ""));
    cause(
        "factory-not-found",
        world ->
            world.set(
                key("abfs"), "org.apache.hadoop.fs.azurebfs.commit.AzureManifestCommitterFactory"));
    cause("factory-failed", world -> world.set(key("abfs"), FailingFactory.class.getName()));
    cause("hadoop-factory", world -> world.set(key("abfs"), HADOOPS_FACTORY));
    cause("other-factory", world -> world.set(key("abfs"), OtherFactory.class.getName()));
    cause("session-factory", world -> world.jobs.set(key("abfs"), OtherFactory.class.getName()));
    cause("half-bound", world -> world.set(key("abfss"), ""));
    cause("factory-for-all", world -> world.set(FactoryBinding.FOR_ALL, ClassNames.FACTORY));
    cause("bad-option", world -> world.set("mapreduce.manifest.committer.io.threads", "0"));
    cause("unknown-option", world -> world.set("mapreduce.manifest.committer.io.thread", "8"));
    cause(
        "other-spark-protocol", world -> world.spark.put(PROTOCOL, OtherProtocol.class.getName()));
    cause(
        "stock-overwrite",
        world -> {
          world.spark.put(PROTOCOL, ClassNames.STOCK_PROTOCOL);
          world.missing.remove(ClassNames.STOCK_PROTOCOL);
        });
    cause(
        "streaming-protocol",
        world -> world.spark.put(SparkSettings.STREAMING_PROTOCOL, ClassNames.PROTOCOL));
    cause(
        "output-committer-ignored",
        world ->
            world.spark.put(SparkSettings.OUTPUT_COMMITTER, FileOutputCommitter.class.getName()));
    cause(
        "store-not-found",
        world -> world.set("fs.abfs.impl", "org.apache.hadoop.fs.azurebfs.AzureBlobFileSystem"));
    cause(
        "gcs-hadoops-connector",
        world -> {
          world.path = GS;
          world.missing.remove(HADOOPS_GS_PACKAGE);
          world.set("fs.gs.impl", ClassNames.HADOOPS_GS);
        });
    cause("gcs-block-size", world -> world.onGoogle("fs.gs.block.size", "64m"));
    cause(
        "gcs-needs-newer-hadoop",
        world -> {
          world.onGoogle("fs.gs.checksum.type", "CRC32C");
          world.connectorIsForNewerHadoop = true;
        });
    cause("gcs-filesystem-calls", world -> world.onGoogle("fs.gs.client.type", "STORAGE_CLIENT"));
    cause(
        "gcs-no-move",
        world -> {
          world.onGoogle("fs.gs.operation.move.enable", "false");
          world.set(GcsStore.REQUESTS, "filesystem");
        });
    cause(
        "gcs-no-checksum",
        world -> {
          world.onGoogle("fs.gs.checksum.type", "NONE");
          world.set(GcsStore.REQUESTS, "filesystem");
        });
    cause("gcs-requests", world -> world.onGoogle("fs.gs.status.parallel.enable", "true"));
    cause(
        "s3-aborted-uploads",
        world -> world.onS3("fs.s3a.bucket.bucket.committer.abort.pending.uploads", "true"));
    cause(
        "s3-directory-markers", world -> world.onS3("fs.s3a.directory.marker.retention", "delete"));
    cause("s3-held-uploads", world -> world.onS3(CommitterConfig.PUBLISH, "hold"));
    cause("s3-magic-unavailable", world -> world.onS3(CommitterConfig.S3_WRITE_TO, "magic"));
    cause(
        "abfs-read-ahead",
        world -> {
          world.missing.remove(ClassNames.ABFS_PACKAGE);
          world.set("fs.abfs.impl", ClassNames.ABFS_PACKAGE + "AzureBlobFileSystem");
        });
    cause(
        "lakefs-other-writers",
        world -> {
          world.path = "lakefs://lake/main/table";
          world.set(key("lakefs"), "");
        });
    cause(
        "lakefs-refused",
        world -> {
          world.path = "lakefs://lake/main/table";
          world.set("fs.lakefs.endpoint", LakefsApi.URL);
          world.set("fs.lakefs.access.key", "key");
          world.set("fs.lakefs.secret.key", "secret");
        });
    cause("native-writer", world -> world.spark.put(SparkSettings.PLUGINS, GLUTEN));
    cause("native-engine", world -> world.spark.put(SparkSettings.PLUGINS, COMET));
    cause("store-failed", world -> world.set("fs.abfs.impl", Locked.class.getName()));
    cause("no-answer", world -> world.set("fs.abfs.impl", Silent.class.getName()));
  }

  private static void cause(String code, Consumer<World> change) {
    CAUSES.put(code, change);
  }

  private final World world = new World();

  @Test
  void allIsWell() {
    CommitterReport report = world.report();

    assertThat(report.problems).isEmpty();
    assertThat(report.ok()).isTrue();
    assertThat(report.toMap())
        .containsEntry("committer", ClassNames.COMMITTER)
        .containsEntry("jobDirectory", ABFS + "/_temporary/manifest_job_info_0001/00");
    assertThat(report.toMap()).containsEntry("factorySource", "a test");
  }

  @ParameterizedTest
  @MethodSource("codes")
  void appearsAndIsRepaired(String code) {
    CAUSES.get(code).accept(world);

    Problem problem = world.problem(code).orElseThrow();

    world.apply(problem.repair);
    assertThat(world.problem(code)).isEmpty();
  }

  static Stream<String> codes() {
    return Problem.TABLE.keySet().stream().map(name -> name.replaceFirst("/.*", "")).distinct();
  }

  @Test
  void nothingIsWrittenNorAsked() {
    MemoryFileSystem.state("quiet").resetRequests();
    world.path = "abfs://quiet/table";

    assertThat(world.report().ok()).isTrue();

    assertThat(MemoryFileSystem.state("quiet").requests()).isEmpty();
  }

  @Test
  void withoutASessionTheFactoryDecides() {
    world.sparkKnown = false;
    assertThat(world.report().ok()).isTrue();

    world.set(key("abfs"), "");

    world.told(Severity.ERROR, "no-factory");
    assertThat(world.report().served).isFalse();
  }

  @Test
  void fileOutputCommitterIsAsBadAsItsStoreAndItsAlgorithm() {
    for (String scheme : new String[] {"abfs", "hdfs", "gs"}) {
      world.path = scheme + "://c@a/table";
      world.set(key(scheme), "");
      world.set(ALGORITHM, "1");
      Problem safe = world.told("no-factory");
      assertThat(safe.severity).isEqualTo(scheme.equals("gs") ? Severity.ERROR : Severity.NOTE);
      assertThat(safe.text).contains("algorithm version 1", scheme + "://");
      assertThat(world.report().ok()).isEqualTo(!scheme.equals("gs"));

      world.set(ALGORITHM, "2");
      Problem unsafe = world.told("no-factory");
      assertThat(unsafe.severity).isEqualTo(Severity.ERROR);
      assertThat(unsafe.text).contains("algorithm version 2, which is unsafe on every store");
    }
  }

  @Test
  void theOtherSchemeOfTheSameStoreIsNamed() {
    world.path = ABFS.replace("abfs:", "abfss:");
    world.set(key("abfss"), "");

    world.told("no-factory", "(abfs:// is bound, but the key is the literal scheme)");
    assertThat(world.problem("half-bound")).isEmpty();
  }

  @Test
  void sparksProtocolIsWorseUnderABoundFactory() {
    world.spark.remove(PROTOCOL);
    assertThat(sparkProtocol()).contains("our committer refuses", "Parquet never asks");

    world.spark.put(SparkSettings.PARQUET_COMMITTER, ClassNames.STOCK_PARQUET_COMMITTER);
    assertThat(sparkProtocol()).contains("Parquet alone asks the factory in a safe way");

    world.set(key("abfs"), HADOOPS_FACTORY);
    assertThat(sparkProtocol()).contains("Rows are visible before the job commits");

    world.set(key("abfs"), OtherFactory.class.getName());
    assertThat(sparkProtocol()).contains(OtherFactory.class.getName());

    world.set(key("abfs"), "");
    assertThat(sparkProtocol()).contains("No factory is bound: FileOutputCommitter");
    assertThat(world.report().served).isFalse();
  }

  private String sparkProtocol() {
    Problem problem = world.told(Severity.ERROR, "spark-protocol");
    return problem.text;
  }

  @Test
  void theStockBindingServesThroughOurFactory() {
    CAUSES.get("stock-overwrite").accept(world);

    assertThat(world.report().ok()).isTrue();
    world.told("stock-overwrite", "dynamic partition overwrite is refused");

    world.set(key("abfs"), HADOOPS_FACTORY);
    world.told("stock-overwrite", "appends to the partitions, and reports success");
    assertThat(world.report().served).isFalse();
  }

  @Test
  void aProtocolHasToBeOne() {
    world.spark.put(PROTOCOL, ClassNames.FACTORY);

    world.told(
        "spark-protocol-not-found",
        "is not a subclass of org.apache.spark.internal.io.FileCommitProtocol");
  }

  @Test
  void aSessionWithoutOurJarIsNotServed() {
    CAUSES.get("jar-missing").accept(world);

    assertThat(world.codes())
        .contains("jar-missing", "spark-protocol-not-found", "factory-not-found");
    assertThat(world.report().served).isFalse();
  }

  @Test
  void settingsThatNameOurClassesHaveToNameOurJar() {
    world.origin = Origin.FILES;
    world.spark.put(SparkSettings.JARS, "/jars/other.jar");
    Problem problem = world.told(Severity.WARNING, "jar-missing");

    world.apply(problem.repair);

    assertThat(world.spark.get(SparkSettings.JARS)).isEqualTo("/jars/other.jar," + JAR);
    assertThat(world.problem("jar-missing")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"s3", "s3n", "wasb", "wasbs", "adl"})
  void storesThatAreRefused(String scheme) {
    world.path = scheme + "://bucket/table";
    world.set(key(scheme), "");
    Problem problem = world.told(Severity.ERROR, "unsupported-store");
    assertThat(problem.text)
        .contains("does not serve " + scheme + "://")
        .contains("unsupported.scheme is not delegate: writes of Spark SQL fail");
    assertThat(world.report().served).isFalse();

    world.set("mapreduce.manifest.committer.unsupported.scheme", "delegate");
    world.told(
        Severity.WARNING, "unsupported-store", "unsupported.scheme is delegate", "by copying");

    world.set(key(scheme), ClassNames.FACTORY);
    world.told(Severity.ERROR, "unsupported-store", "MapReduce jobs and RDD writers fail");
  }

  @Test
  void onS3WhatOurFactoryRefusesIsRepairedByS3asOwnCommitters() {
    world.path = "s3a://bucket/table";
    world.set("fs.s3a.impl", MemoryFileSystem.class.getName());
    world.set("fs.s3a.impl.disable.cache", "true");
    world.set(FactoryBinding.FOR_ALL, ClassNames.FACTORY);
    Problem problem =
        world.told(Severity.ERROR, "unsupported-store", "MapReduce jobs and RDD writers fail");

    world.apply(problem.repair);

    assertThat(world.problem("unsupported-store")).isEmpty();
    assertThat(world.report().served).as("by Spark's protocol").isTrue();
  }

  @Test
  void onS3ByAnotherSchemeTheKeyIsThatScheme() {
    world.path = "s3://bucket/table";
    world.set("fs.s3.impl", S3AFileSystem.class.getName());
    world.set("fs.s3.impl.disable.cache", "true");
    assertThat(world.report().served).as("by Spark's protocol").isTrue();
    Problem problem = world.told("no-factory");
    assertThat(problem.repair.settings).containsEntry(key("s3"), ClassNames.S3A_FACTORY);

    world.apply(problem.repair);

    assertThat(world.codes()).doesNotContain("no-factory", "unsupported-store");
  }

  /** Ours would be refused there. */
  @Test
  void onS3AFactoryThatFailsIsNotReplacedByOurs() {
    world.onS3("fs.s3a.committer.name", "magic");
    world.set("fs.s3a.impl", MemoryFileSystem.class.getName());
    world.set(key("s3a"), FailingFactory.class.getName());
    assertThat(world.told("factory-failed").repair.settings).isEmpty();

    String key = "fs.s3a.bucket.bucket.committer.magic.enabled";
    world.set(key, "false");

    assertThat(world.told("factory-failed").repair.settings)
        .containsExactlyEntriesOf(Map.of(key, "true"));
  }

  @Test
  void onS3WhatTheSettingsTellIsToldAlsoIfTheStoreDoesNotOpen() {
    world.onS3("fs.s3a.encryption.algorithm", "CSE-KMS");
    world.set("fs.s3a.impl", Locked.class.getName());
    world.told("unsupported-store", "client-side encryption", "writes of Spark SQL fail");

    assertThat(world.codes()).doesNotContain("store-failed");
    world.set("fs.s3a.encryption.algorithm", "SSE-KMS");
    assertThat(world.codes()).contains("store-failed").doesNotContain("unsupported-store");
  }

  @Test
  void withoutHadoopAwsItIsWhatIsMissing() {
    world.onS3("fs.s3a.impl", "org.apache.hadoop.fs.s3a.NotThere");
    world.set(key("s3a"), ClassNames.S3A_FACTORY);

    Problem problem = world.told("store-not-found");

    assertThat(problem.text).contains("no job can write there", "hadoop-aws");
    assertThat(problem.repair.jar).contains("hadoop-aws");
    assertThat(world.codes()).doesNotContain("factory-not-found");
  }

  @Test
  void onS3UploadsThatAreSwitchedOffAreSwitchedOn() {
    world.onS3("fs.s3a.multipart.uploads.enabled", "false");
    world.set(key("s3a"), ClassNames.S3A_FACTORY);
    world.set("fs.s3a.committer.name", "directory");

    assertThat(world.told("unsupported-store").repair.settings)
        .containsExactlyEntriesOf(Map.of("fs.s3a.multipart.uploads.enabled", "true"));
  }

  @Test
  void onS3FileOutputCommitterIsRepairedByS3asOwnCommitters() {
    world.path = "s3a://bucket/table";
    world.set("fs.s3a.impl", MemoryFileSystem.class.getName());
    world.set("fs.s3a.impl.disable.cache", "true");
    Problem problem = world.told(Severity.WARNING, "no-factory");

    world.apply(problem.repair);

    assertThat(world.problem("no-factory")).isEmpty();
  }

  @Test
  void aFactoryForAllThatIsNotOursIsReplaced() {
    world.set(FactoryBinding.FOR_ALL, OtherFactory.class.getName());

    world.apply(world.told("other-factory").repair);

    assertThat(world.codes()).isEmpty();
  }

  @Test
  void everyBadOptionIsNamed() {
    world.set("mapreduce.manifest.committer.io.threads", "many");
    world.set("mapreduce.manifest.committer.validate.output", "perhaps");

    assertThat(world.report().problems)
        .extracting(problem -> problem.code())
        .containsExactly("bad-option", "bad-option");
    assertThat(world.report().problems.toString())
        .contains("io.threads is 'many'", "validate.output is 'perhaps'");
    assertThat(world.report().ok()).isFalse();
  }

  @Test
  void onConnectAFactoryThatIsMissingHurtsNobody() {
    CAUSES.get("factory-not-found").accept(world);
    assertThat(world.report().ok()).isFalse();

    world.origin = Origin.CONNECT_SERVER;

    world.told(Severity.WARNING, "factory-not-found");
    assertThat(world.report().ok()).isTrue();
  }

  @Test
  void aStoreThatFailsIsTold() {
    world.set("fs.abfs.impl", Locked.class.getName());

    world.told("store-failed", ABFS, "the account key is missing");
    assertThat(world.report().served).as("the binding itself is right").isTrue();
    assertThat(world.report().ok()).isFalse();
  }

  @Test
  void aMissingStoreNamesItsJar() {
    CAUSES.get("store-not-found").accept(world);

    world.told(
        "store-not-found", "AzureBlobFileSystem is missing", "org.apache.hadoop:hadoop-azure:3.");

    world.path = "nosuch://host/table";
    world.told("store-not-found", "the connector of nosuch://");
  }

  @Test
  void aFlatAccountIsRefused() {
    world.set(MemoryFileSystem.FLAT, "true");
    Problem problem =
        world.told(Severity.ERROR, "unsupported-store", ABFS, "no hierarchical namespace");
    assertThat(world.report().served).isFalse();

    world.apply(problem.repair);

    assertThat(world.codes()).isEmpty();
    assertThat(world.report().served).isTrue();
  }

  @Test
  void allIsWellWithGooglesConnector() {
    world.onGoogle("fs.gs.checksum.type", "MD5");

    assertThat(world.report().problems).isEmpty();
    assertThat(world.report().ok()).isTrue();
  }

  @Test
  void hadoop35AsItComesWithGooglesConnector() {
    world.path = GS;
    world.set("fs.gs.impl", ClassNames.HADOOPS_GS);
    world.set("fs.gs.block.size", "64m");
    Problem noJar = world.told("store-not-found");
    assertThat(noJar.text)
        .contains("connector is in com.google.cloud.bigdataoss:gcs-connector")
        .contains("fs.gs.impl names it, which is " + ClassNames.HADOOPS_GS + " (a test)");
    assertThat(noJar.repair.jar).contains("com.google.cloud.bigdataoss:gcs-connector");

    world.missing.remove(GOOGLES_PACKAGE);
    Problem notBound = world.told("store-not-found", "Google's connector is there");
    assertThat(notBound.repair.jar).isNull();

    world.apply(notBound.repair);
    assertThat(world.codes())
        .containsExactlyInAnyOrder("gcs-block-size", "store-failed", "gcs-requests");
    Problem first = world.report().problems.get(0);
    assertThat(first.code()).as("the cause comes first").isEqualTo("gcs-block-size");
    assertThat(first.text).contains("64m (a test)");
    world.apply(first.repair);
    assertThat(world.jobs.get("fs.gs.block.size")).isEqualTo("67108864");

    for (Problem problem : world.report().problems) {
      assertThat(problem.severity).isEqualTo(Severity.NOTE);
      world.apply(problem.repair);
    }
    assertThat(world.report().problems).isEmpty();
  }

  @Test
  void aBlockSizeThatIsNoSizeIsReplaced() {
    world.onGoogle("fs.gs.block.size", "large");

    world.apply(world.told("gcs-block-size").repair);

    assertThat(world.report().problems).isEmpty();
  }

  @Test
  void aStoreThatNobodyKnowsIsServedOnceItIsVouchedFor() {
    world.onUnknownStore();
    world.set(CommitterConfig.ATOMIC_RENAME_SCHEMES, "ofs");
    Problem problem = world.told(Severity.ERROR, "unsupported-store");
    assertThat(world.report().served).isFalse();

    world.apply(problem.repair);
    assertThat(problem.repair.settings).containsValue("ofs,mem");
    assertThat(world.problem("unsupported-store")).isEmpty();
    assertThat(world.report().served).isTrue();
  }

  @Test
  void aConnectorThatRenamesByCopyingIsRefused() {
    world.onGoogle("fs.gs.operation.move.enable", "");
    assertThat(world.codes()).isEmpty();
    world.set(GcsStore.REQUESTS, "filesystem");
    world.told(Severity.NOTE, "gcs-no-move");

    world.set("fs.gs.operation.move.enable", "false");
    world.told(Severity.WARNING, "gcs-no-move");
    world.told(Severity.ERROR, "unsupported-store");
  }

  @Test
  void jobsThatWouldMoveObjectsThoughThatIsSwitchedOffAreRefused() {
    world.onGoogle("fs.gs.operation.move.enable", "false");
    Problem problem = world.told(Severity.ERROR, "gcs-no-move");

    world.apply(problem.repair);
    assertThat(world.report().problems).isEmpty();
  }

  @Test
  void bothConnectorsOnTheClassPathAreTold() {
    CAUSES.get("gcs-hadoops-connector").accept(world);
    world.missing.remove(GOOGLES_PACKAGE);
    Problem problem = world.told("gcs-hadoops-connector");

    assertThat(problem.text).contains("Google's, a class of the same name");
    assertThat(problem.repair.jar).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "3.3.1, false",
    "3.3.2, true",
    "3.3.4, true",
    "3.3.4.5.1-7, true",
    "3.3.5, false",
    "3.3.20, false",
    "3.4.1, false",
    "3.5.0, false"
  })
  void versionsThatReadAheadWrongly(String version, boolean wrong) {
    CAUSES.get("abfs-read-ahead").accept(world);
    assertThat(new StoreRules(world.jobs, new Path(ABFS), version).problems())
        .hasSize(wrong ? 1 : 0);

    world.set("fs.azure.readaheadqueue.depth", "0");
    assertThat(new StoreRules(world.jobs, new Path(ABFS), version).problems()).isEmpty();
  }

  @Test
  void theDriversRateLimitIsReported() {
    assertThat(world.report().toMap()).containsEntry("options", Map.of());

    world.set("fs.azure.io.rate.limit", "250");

    assertThat(world.report().toMap().get("options").toString())
        .startsWith("{fs.azure.io.rate.limit={value=250, source=a test, default=null,");
    world.path = "hdfs://c@a/table";
    assertThat(world.report().toMap()).containsEntry("options", Map.of());
  }

  @Test
  void lookingDoesNotMakeHadoopForgetAJarThatComesLater() throws ClassNotFoundException {
    world.missing.add("io.manifestcommitter.");
    assertThat(world.codes()).contains("factory-not-found");

    world.missing.clear();

    assertThat(world.jobs.getClassByName(ClassNames.FACTORY))
        .isEqualTo(ManifestCommitterFactory.class);
  }

  @Test
  void aGatewayOfLakefsIsRepairedByTheSettingThatNamesItsApi() {
    world.onS3("fs.s3a.endpoint", LakefsApi.URL);

    Problem problem = world.told("unsupported-store", "gateway of lakeFS");

    assertThat(problem.repair.settings)
        .containsOnly(Map.entry("fs.s3a.bucket.bucket.lakefs.endpoint", LakefsApi.URL + "/api/v1"));
    world.apply(problem.repair);
    assertThat(world.problem("unsupported-store")).isEmpty();
  }

  @Test
  void inLakefsSettingsOfUploadsDoNotMatter() {
    world.onS3("fs.s3a.committer.abort.pending.uploads", "true");
    world.set("fs.s3a.bucket.bucket.lakefs.endpoint", LakefsApi.URL + "/api/v1");

    assertThat(world.codes()).doesNotContain("s3-aborted-uploads", "no-factory");
    world.told(Severity.WARNING, "lakefs-other-writers");
    world.told(Severity.ERROR, "lakefs-refused", "names no table in lakeFS");
  }

  @Test
  void glutenWritesByVeloxUnlessThatIsSwitchedOff() {
    world.spark.put(SparkSettings.PLUGINS, "a.Plugin," + GLUTEN);

    Problem problem = world.told(Severity.ERROR, "native-writer", GLUTEN, "are refused");
    assertThat(problem.repair.settings)
        .containsExactlyEntriesOf(Map.of("spark.gluten.sql.native.writer.enabled", "false"));
    assertThat(world.report().ok()).isFalse();

    world.apply(problem.repair);
    world.told(Severity.NOTE, "native-engine", "Gluten is on", "Spark writes the files");
    assertThat(world.report().ok()).isTrue();

    world.spark.put(SparkSettings.GLUTEN, "false");
    assertThat(world.report().problems).isEmpty();
  }

  @Test
  void glutenWritesByClickHouseOnlyWhereItIsToldTo() {
    world.spark.put(SparkSettings.PLUGINS, GLUTEN);
    world.standsIn = ClassNames.GLUTENS_CLICKHOUSE;
    assertThat(world.codes()).containsExactly("native-engine");

    world.spark.put(SparkSettings.GLUTEN_WRITES, "true");
    assertThat(world.codes()).containsExactly("native-writer");
  }

  @ParameterizedTest
  @CsvSource({
    "spark.plugins, org.apache.spark.CometPlugin",
    "spark.sql.extensions, org.apache.comet.CometSparkSessionExtensions"
  })
  void cometWritesPastUsToTheStoresThatItKnows(String key, String value) {
    world.spark.put(key, value);
    world.path = "hdfs://c@a/table";
    world.told(Severity.NOTE, "native-engine", "Comet is on", "Spark writes the files");

    world.spark.put(SparkSettings.COMET_WRITES, "true");
    Problem problem = world.told(Severity.ERROR, "native-writer", "does not ask ours");
    assertThat(problem.repair.settings)
        .containsExactlyEntriesOf(Map.of("spark.comet.parquet.write.enabled", "false"));

    world.path = ABFS;
    assertThat(world.codes()).containsExactly("native-engine");

    world.spark.put(SparkSettings.COMET, "false");
    assertThat(world.report().problems).isEmpty();
  }

  @Test
  void fabricsEngineIsGluten() {
    world.spark.put(SparkSettings.FABRIC, "true");
    Problem problem = world.told(Severity.WARNING, "native-writer", "Fabric's native execution");
    world.spark.put(SparkSettings.PLUGINS, GLUTEN);
    assertThat(world.codes()).containsExactly("native-writer");

    world.spark.remove(SparkSettings.PLUGINS);
    world.apply(problem.repair);
    assertThat(world.report().problems).isEmpty();
  }

  @Test
  void ofPhotonNothingIsKnown() {
    world.spark.put(SparkSettings.DATABRICKS_ENGINE, "STANDARD");
    assertThat(world.report().problems).isEmpty();

    world.spark.put(SparkSettings.DATABRICKS_ENGINE, "PHOTON");
    world.told(Severity.NOTE, "native-engine", "does not publish");
    assertThat(world.report().ok()).isTrue();
  }

  /** Spark's own protocol works with Gluten's writer, and is another problem. */
  @Test
  void enginesMatterUnderOurProtocolOnly() {
    world.spark.put(SparkSettings.PLUGINS, GLUTEN);
    world.spark.remove(PROTOCOL);

    assertThat(world.codes()).containsExactly("spark-protocol");
  }

  /** Answers below its API as a branch with nothing to commit, and elsewhere as a page. */
  private static final class LakefsApi {
    static final String URL = start();

    private static String start() {
      try {
        HttpServer server =
            HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> answer(exchange, "<html>"));
        server.createContext(
            "/api/v1/repositories/lake/branches/main/diff",
            exchange -> answer(exchange, "{\"results\":[],\"pagination\":{\"has_more\":false}}"));
        server.createContext(
            "/api/v1/healthcheck",
            exchange -> {
              exchange.sendResponseHeaders(204, -1);
              exchange.close();
            });
        server.start();
        return "http://127.0.0.1:" + server.getAddress().getPort();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void answer(HttpExchange exchange, String body) throws IOException {
      exchange.sendResponseHeaders(200, body.length());
      exchange.getResponseBody().write(body.getBytes(StandardCharsets.UTF_8));
      exchange.close();
    }
  }

  /** All that a job meets, right for abfs, abfss, gs and hdfs until something is changed. */
  private static final class World {
    private final Configuration jobs = new Configuration();
    private final Configuration sql = new Configuration();
    private final Map<String, String> spark = new HashMap<>();

    /** Names of classes and packages that the loader does not find. */
    private final Set<String> missing =
        new HashSet<>(
            Set.of(
                ClassNames.STOCK_PROTOCOL,
                ClassNames.STOCK_PARQUET_COMMITTER,
                ClassNames.ABFS_PACKAGE,
                GOOGLES_PACKAGE,
                HADOOPS_GS_PACKAGE));

    private final ClassLoader loader =
        new ClassLoader(CommitterInfoProblemsTest.class.getClassLoader()) {
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (missing.stream().anyMatch(name::startsWith)) {
              throw new ClassNotFoundException(name);
            }
            return name.equals(ClassNames.STOCK_PROTOCOL)
                ? OtherProtocol.class
                : super.loadClass(name, resolve);
          }

          @Override
          public java.net.URL getResource(String name) {
            String className = name.replace('/', '.');
            if (className.equals(standsIn + ".class")) {
              return super.getResource(World.class.getName().replace('.', '/') + ".class");
            }
            if (connectorIsForNewerHadoop && className.equals(ClassNames.GOOGLES_GS + ".class")) {
              return super.getResource(ForNewerHadoop.class.getName().replace('.', '/') + ".class");
            }
            return missing.stream().anyMatch(className::startsWith)
                ? null
                : super.getResource(name);
          }
        };

    private Origin origin = Origin.SESSION;
    private boolean sparkKnown = true;
    private boolean connectorIsForNewerHadoop;

    /** A class that is found there. */
    private String standsIn = "";

    private String path = ABFS;
    private Duration patience = Duration.ofMinutes(5);

    World() {
      jobs.setClassLoader(loader);
      sql.setClassLoader(loader);
      for (String scheme : new String[] {"abfs", "abfss", "gs", "hdfs"}) {
        set("fs." + scheme + ".impl", MemoryFileSystem.class.getName());
        set("fs." + scheme + ".impl.disable.cache", "true");
        set(key(scheme), ClassNames.FACTORY);
      }
      set("fs.defaultFS", "abfs://c@a");
      spark.put(PROTOCOL, ClassNames.PROTOCOL);
    }

    void set(String key, String value) {
      jobs.set(key, value, "a test");
      sql.set(key, value, "a test");
      if (value.equals(Silent.class.getName())) {
        patience = Duration.ofMillis(1);
      }
    }

    /** Google's connector as it should be set, but for one setting. */
    void onGoogle(String key, String value) {
      path = GS;
      missing.remove(GOOGLES_PACKAGE);
      set("fs.gs.impl", ClassNames.GOOGLES_GS);
      set("fs.gs.block.size", "67108864");
      set("fs.gs.operation.move.enable", "true");
      set("fs.gs.status.parallel.enable", "false");
      set("fs.gs.implicit.dir.repair.enable", "false");
      set("fs.gs.checksum.type", "CRC32C");
      set(key, value);
    }

    /** As spark-conf has it, but for one setting. */
    void onS3(String key, String value) {
      path = "s3a://bucket/table";
      set("fs.s3a.impl", S3AFileSystem.class.getName());
      set("fs.s3a.impl.disable.cache", "true");
      set("fs.s3a.committer.abort.pending.uploads", "false");
      set("fs.s3a.directory.marker.retention", "keep");
      set(key, value);
    }

    /** A store that nobody knows. */
    void onUnknownStore() {
      path = "mem://unknown/table";
      set("fs.mem.impl", MemoryFileSystem.class.getName());
      set(key("mem"), ClassNames.FACTORY);
    }

    CommitterReport report() {
      Map<String, Setting> set = new HashMap<>();
      spark.forEach((key, value) -> set.put(key, new Setting(value, "a test")));
      JobSettings settings =
          new JobSettings(
              jobs,
              sql,
              sparkKnown ? SparkSettings.of(set) : SparkSettings.unknown(),
              loader,
              origin);
      return CommitterReport.of(path, settings, patience, JAR);
    }

    Optional<Problem> problem(String code) {
      return report().problems.stream().filter(found -> found.code().equals(code)).findFirst();
    }

    /** The problem with a code, whose text has certain words. */
    Problem told(String code, String... words) {
      Problem found = problem(code).orElseThrow();
      for (String word : words) {
        assertThat(found.text).contains(word);
      }
      return found;
    }

    Problem told(Severity severity, String code, String... words) {
      Problem found = told(code, words);
      assertThat(found.severity).isEqualTo(severity);
      return found;
    }

    Set<String> codes() {
      Set<String> codes = new HashSet<>();
      report().problems.forEach(problem -> codes.add(problem.code()));
      return codes;
    }

    /** Does what the repair names, and where it names nothing, what its text asks for. */
    void apply(Repair repair) {
      repair.settings.forEach(
          (key, value) -> {
            if (!key.startsWith("spark.") && value == null) {
              jobs.unset(key);
              sql.unset(key);
            } else if (!key.startsWith("spark.")) {
              set(key, value);
            } else if (value != null) {
              spark.put(key, value);
            } else {
              spark.remove(key);
            }
          });
      if (repair.jar != null) {
        addJar(repair.jar);
      }
      path = repair.path != null ? repair.path : path;
      if (repair.settings.isEmpty() && repair.jar == null && repair.path == null) {
        path = path.contains("://") ? path : ABFS;
        spark.remove(SparkSettings.PLUGINS);
        connectorIsForNewerHadoop = false;
        set(MemoryFileSystem.FLAT, "false");
        set("fs.abfs.impl", MemoryFileSystem.class.getName());
        patience = Duration.ofMinutes(5);
      }
    }

    private void addJar(String jar) {
      if (jar.equals(JAR) || jar.startsWith("manifest-committer-")) {
        missing.remove("io.manifestcommitter.");
      } else if (jar.startsWith("org.apache.spark:spark-hadoop-cloud")) {
        missing.remove(ClassNames.STOCK_PROTOCOL);
      } else if (jar.startsWith("org.apache.hadoop:hadoop-azure:")) {
        set("fs.abfs.impl", MemoryFileSystem.class.getName());
      } else if (jar.equals("com.google.cloud.bigdataoss:gcs-connector")) {
        missing.remove(GOOGLES_PACKAGE);
      } else {
        throw new AssertionError("No test knows what is in " + jar);
      }
    }
  }

  /** A committer's factory that is neither ours nor Hadoop's. */
  public static final class OtherFactory extends PathOutputCommitterFactory {
    @Override
    public PathOutputCommitter createOutputCommitter(Path path, TaskAttemptContext context)
        throws IOException {
      return new FileOutputCommitter(path, context);
    }
  }

  /** A factory that lacks something. */
  public static final class FailingFactory extends PathOutputCommitterFactory {
    @Override
    public PathOutputCommitter createOutputCommitter(Path path, TaskAttemptContext context)
        throws IOException {
      throw new IOException("something is not set");
    }
  }

  /** A protocol that is neither ours nor Spark's. */
  public static final class OtherProtocol extends HadoopMapReduceCommitProtocol {
    private static final long serialVersionUID = 1L;

    /** As Spark makes protocols. */
    public OtherProtocol(String jobId, String path) {
      super(jobId, path, false);
    }
  }

  /** A store that does not open. */
  public static final class Locked extends FilterFileSystem {
    /** As Hadoop makes filesystems. */
    public Locked() {
      super(new LocalFileSystem());
    }

    @Override
    public void initialize(URI name, Configuration conf) throws IOException {
      throw new IOException("the account key is missing");
    }
  }

  /** A class file that refers to what Hadoop has from 3.3.5 on. */
  private static final class ForNewerHadoop {
    @Override
    public String toString() {
      return "org/apache/hadoop/fs/Options$OpenFileOptions";
    }
  }

  /** A store whose host does not answer; waits until it is interrupted. */
  public static final class Silent extends FilterFileSystem {
    /** As Hadoop makes filesystems. */
    public Silent() {
      super(new LocalFileSystem());
    }

    @Override
    public void initialize(URI name, Configuration conf) throws IOException {
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }
}
