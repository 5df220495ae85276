// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.LakefsEmulator;
import io.manifestcommitter.emulator.S3Emulator;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.lakefs.LakefsUpload;
import io.manifestcommitter.lakefs.LakefsUpload.Way;
import io.manifestcommitter.store.LakefsGateway;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.testing.SparkCalls;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What tasks upload to lakeFS and link to the branch of their job. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class LakefsUploadIT {
  private static final int PART = 5 << 20;
  private static final String JOB = "job-1";
  private static final String API_OF_LAKE = LakefsGateway.setting("lake");
  private static final String CREDENTIALS =
      "Basic " + Base64.getEncoder().encodeToString("key:secret".getBytes(StandardCharsets.UTF_8));

  @TempDir File directory;

  private final HttpClient client = HttpClient.newHttpClient();
  private final Path root = new Path("s3a://lake/main/tables/t");
  private final Path place = new Path(root, "p=a%2Fb c+d/é&<\">.txt");
  private final Configuration conf = new Configuration();
  private S3Emulator s3;
  private LakefsEmulator lakefs;
  private LakefsTable table;
  private File local;

  @BeforeEach
  void start() throws Exception {
    s3 = S3Emulator.start();
    lakefs = LakefsEmulator.start(s3);
    s3.settings().forEach(conf::set);
    lakefs.settings().forEach(conf::set);
    conf.set(API_OF_LAKE, conf.get(LakefsTable.ENDPOINT));
    conf.setInt("fs.s3a.multipart.size", PART);
    conf.setBoolean("fs.s3a.impl.disable.cache", true);
    conf.set("fs.s3a.buffer.dir", new File(directory, "buffer").toString());
    table = tableOf(root);
    local = new File(directory, "é&<.txt");
    String branch = table.branchOf(JOB);
    ask("POST", "branches", "{\"name\": \"" + branch + "\", \"source\": \"main\"}");
    forget();
  }

  @AfterEach
  void close() {
    lakefs.close();
    s3.close();
  }

  @ParameterizedTest
  @EnumSource
  void aFileIsAnAddressAnUploadAndALink(Way way) throws Exception {
    byte[] content = bytes(100_000);

    StoreEntry linked = upload(way, content).finish();

    assertThat(lakefs.log().counts()).isEqualTo(Map.of("address", 1L, "link", 1L));
    assertThat(s3.log().counts()).containsEntry("put", 1L);
    if (way != Way.FILESYSTEM) {
      assertThat(s3.log().counts()).hasSize(1);
    }
    assertThat(linked.etag()).isEqualTo(md5(content));
    assertIsThere(linked, content);
  }

  @ParameterizedTest
  @EnumSource
  void anEmptyFileIsOneToo(Way way) throws Exception {
    StoreEntry linked = upload(way, new byte[0]).finish();

    assertThat(linked.etag()).isEqualTo("d41d8cd98f00b204e9800998ecf8427e");
    assertIsThere(linked, new byte[0]);
  }

  @Test
  void aLargeFileGoesInParts() throws Exception {
    byte[] content = bytes(2 * PART + 1);

    StoreEntry linked = upload(Way.PRESIGNED_PARTS, content).finish();

    assertThat(lakefs.log().counts()).isEqualTo(Map.of("upload", 1L, "upload-complete", 1L));
    assertThat(s3.log().counts()).isEqualTo(Map.of("part", 3L));
    assertThat(linked.etag()).endsWith("-3");
    assertIsThere(linked, content);
    assertThat(s3.uploads()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"PRESIGNED,11000000", "FILESYSTEM,11000000", "PRESIGNED_PARTS,5242880"})
  void otherFilesGoWhole(Way way, int length) throws Exception {
    byte[] content = bytes(length);

    StoreEntry linked = upload(way, content).finish();

    assertThat(lakefs.log().counts()).isEqualTo(Map.of("address", 1L, "link", 1L));
    assertThat(linked.etag()).isEqualTo(md5(content));
    assertIsThere(linked, content);
  }

  @Test
  void theServerSaysWhichWayItOffers() throws Exception {
    assertThat(Way.of(table.repository)).isEqualTo(Way.PRESIGNED_PARTS);
    lakefs.without("pre_sign_multipart_upload");
    assertThat(Way.of(table.repository)).isEqualTo(Way.PRESIGNED);
    lakefs.without("pre_sign_support");
    assertThat(Way.of(table.repository)).isEqualTo(Way.FILESYSTEM);
    assertThat(lakefs.log().counts()).isEqualTo(Map.of("config", 3L));
  }

  @Test
  void anExpiredUrlIsReplaced() throws Exception {
    byte[] content = bytes(1000);

    StoreEntry linked = finishLater("put", upload(Way.PRESIGNED_PARTS, content));

    assertThat(lakefs.log().counts()).isEqualTo(Map.of("address", 2L, "link", 1L));
    assertIsThere(linked, content);
  }

  @Test
  void expiredUrlsOfPartsAreReplaced() throws Exception {
    byte[] content = bytes(PART + 1);

    StoreEntry linked = finishLater("part", upload(Way.PRESIGNED_PARTS, content));

    assertThat(lakefs.log().counts())
        .isEqualTo(Map.of("upload", 1L, "upload-part", 2L, "upload-complete", 1L));
    assertIsThere(linked, content);
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, PART + 1})
  void aUrlThatIsAlwaysRefusedIsGivenUp(int length) throws Exception {
    s3.faults().add(FaultRule.on(length > PART ? "part" : "put").always().refuse(403));

    LakefsUpload upload = upload(Way.PRESIGNED_PARTS, bytes(length));

    assertThatThrownBy(upload::finish).hasMessageContainingAll("403", "presigned URL");
    assertNothingIsThere();
    assertThat(s3.log().counts()).containsValue(3L);
  }

  static Stream<List<String>> requests() {
    List<List<String>> all = new ArrayList<>();
    for (String request : List.of("address", "put", "link", "upload", "part", "upload-complete")) {
      for (String fault :
          List.of(
              "refuse 500", "drop", "lose 500", "lose", "refuse 429", "refuse 503", "lose 503")) {
        all.add(List.of(request, fault));
      }
    }
    return all.stream();
  }

  @ParameterizedTest
  @MethodSource("requests")
  void aRequestThatGoesWrongIsMadeAgain(List<String> how) throws Exception {
    FaultRule rule = add(how.get(0), how.get(1), how.get(1).matches("refuse (429|503)") ? 3 : 1);
    byte[] content = bytes(isOfParts(how.get(0)) ? PART + 1 : 1000);

    StoreEntry linked = upload(Way.PRESIGNED_PARTS, content).finish();

    assertThat(rule.applied()).isPositive();
    assertIsThere(linked, content);
  }

  @ParameterizedTest
  @MethodSource("requests")
  void aRequestThatAlwaysGoesWrongLeavesNothing(List<String> how) throws Exception {
    add(how.get(0), how.get(1), Integer.MAX_VALUE);
    LakefsUpload upload =
        upload(
            Way.PRESIGNED_PARTS,
            bytes(isOfParts(how.get(0)) ? PART + 1 : 1000),
            new RequestGate(0, 8, 1000, () -> {}));

    if (how.get(0).equals("upload-complete") && how.get(1).startsWith("lose")) {
      // A look shows that it was done.
      assertIsThere(upload.finish(), Files.readAllBytes(local.toPath()));
      return;
    }
    assertThatThrownBy(upload::finish).isInstanceOf(IOException.class);

    lakefs.faults().clear();
    s3.faults().clear();
    assertNothingIsThere();
    if (!how.get(0).equals("upload")) {
      assertThat(s3.uploads()).isEmpty();
    }
  }

  @Test
  void whatIsAbortedIsNotOnTheBranch() throws Exception {
    LakefsUpload upload = upload(Way.PRESIGNED, bytes(10));
    upload.abort();
    assertThat(lakefs.log().counts()).isEmpty();
    upload.finish();
    forget();

    upload.abort();
    upload.abort();

    assertThat(lakefs.log().counts()).isEqualTo(Map.of("delete-many", 1L));
    assertNothingIsThere();
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, PART + 1})
  void nothingIsLinkedOnceTheBranchIsDeleted(int length) throws Exception {
    LakefsUpload upload = upload(Way.PRESIGNED_PARTS, bytes(length));
    ask("DELETE", "branches/" + table.branchOf(JOB), "");

    assertThatThrownBy(upload::finish).hasMessageContaining("404");

    assertThat(s3.uploads()).isEmpty();
    assertThat(lakefs.tree()).isEmpty();
    upload.abort();
  }

  @Test
  void whereOnlyTheServerCanWriteTheErrorSaysSo() throws Exception {
    lakefs.create("disk", "local://" + directory);
    conf.set(LakefsGateway.setting("disk"), conf.get(LakefsTable.ENDPOINT));
    LakefsTable onDisk = tableOf(new Path("s3a://disk/main/t"));
    Files.write(local.toPath(), bytes(10));
    Path file = new Path(onDisk.path, "f");

    assertThatThrownBy(
            () -> new LakefsUpload(onDisk, JOB, Way.FILESYSTEM, conf, local, file).finish())
        .hasMessageContainingAll("local://", "pre_sign_support");
  }

  @Test
  void whereTheStoreDoesNotAnswerTheErrorSaysSo() throws Exception {
    int port = s3.port();
    s3.close();

    assertThatThrownBy(upload(Way.PRESIGNED, bytes(10))::finish)
        .hasMessageContainingAll("The store behind lakeFS", "presigned", ":" + port);
    assertNothingIsThere();
  }

  @Test
  void whereTheClusterCannotWriteTheErrorNamesThePlace() throws Exception {
    s3.faults().add(FaultRule.on("put").always().refuse(403));

    assertThatThrownBy(upload(Way.FILESYSTEM, bytes(10))::finish)
        .hasMessageContainingAll("presigned", "s3a://emulated/lake/data/");
    assertNothingIsThere();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "pre_sign_multipart_upload", "pre_sign_support"})
  void aTaskUploadsAndLinks(String missing) throws Exception {
    lakefs.without(missing);
    // The setup does not wait for the first sign of life.
    FaultRule beat = lakefs.faults().add(FaultRule.on("put").path("-beat/heartbeat").hold());
    SparkCalls write = SparkCalls.of(conf, root, "w-1", false).setUp();
    beat.awaitHeld();
    forget();
    SparkCalls.Attempt lost = write.attempt(0, 0).write("p=1", "lost");
    SparkCalls.Attempt attempt = write.attempt(0, 1).write("p=1", "content");
    assertThat(lakefs.log().counts()).isEmpty();

    var message = attempt.commitApproved();
    lost.commitApproved();
    lost.abort();

    assertThat(lakefs.log().counts())
        .isEqualTo(Map.of("address", 2L, "link", 2L, "delete-many", 1L));
    assertThat(new File(directory, "buffer").list()).isNullOrEmpty();
    beat.release();
    write.commit(List.of(message));
    assertThat(lakefs.tree().keySet().stream().filter(path -> path.contains("/p=1/")))
        .singleElement()
        .matches(path -> path.endsWith(".txt") && lakefs.tree().get(path) == 7);
  }

  @Test
  void locationsThatNoMergeCoversAreRefused() throws Exception {
    Path location = new Path("s3a://lake/main/elsewhere/p=1");
    SparkCalls inLakefs = SparkCalls.of(conf, root, "w-2", false).setUp();
    assertThatThrownBy(() -> inLakefs.attempt(0, 0).newFileAt(location, ".txt"))
        .hasMessageContainingAll(root.toString(), location.toString(), "SET LOCATION");
    inLakefs.abort();

    SparkCalls beside = SparkCalls.of(conf, new Path("s3a://emulated/t"), "w-3", false).setUp();
    assertThatThrownBy(() -> beside.attempt(0, 0).newFileAt(location, ".txt"))
        .hasMessageContainingAll("s3a://emulated/t", location.toString(), "SET LOCATION");
    beside.abort();
  }

  private LakefsTable tableOf(Path path) throws IOException {
    return LakefsTable.of(conf, path, new RequestGate(0, 8, 60_000, () -> {})).orElseThrow();
  }

  private LakefsUpload upload(Way way, byte[] content) throws IOException {
    Files.write(local.toPath(), content);
    return new LakefsUpload(table, JOB, way, conf, local, place);
  }

  private LakefsUpload upload(Way way, byte[] content, RequestGate gate) throws IOException {
    Files.write(local.toPath(), content);
    LakefsTable impatient = LakefsTable.of(conf, root, gate).orElseThrow();
    return new LakefsUpload(impatient, JOB, way, conf, local, place);
  }

  /** Finishes an upload whose requests to presigned URLs come too late. */
  private StoreEntry finishLater(String operation, LakefsUpload upload) throws Exception {
    FaultRule late = s3.faults().add(FaultRule.on(operation).hold());
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      Future<StoreEntry> linked = thread.submit(upload::finish);
      late.awaitHeld();
      lakefs.advance(Duration.ofMinutes(16));
      late.release();
      return linked.get();
    } finally {
      thread.shutdownNow();
    }
  }

  private static boolean isOfParts(String request) {
    return !List.of("address", "put", "link").contains(request);
  }

  private FaultRule add(String request, String fault, int times) {
    Emulator of = request.equals("put") || request.equals("part") ? s3 : lakefs;
    FaultRule.When when = FaultRule.on(request).times(times);
    String[] how = fault.split(" ", -1);
    if (how.length == 1) {
      return of.faults().add(how[0].equals("drop") ? when.drop() : when.applyThenDrop());
    }
    int status = Integer.parseInt(how[1]);
    return of.faults()
        .add(how[0].equals("refuse") ? when.refuse(status) : when.applyThenFail(status));
  }

  private void assertIsThere(StoreEntry linked, byte[] content) throws Exception {
    assertThat(linked.path()).isEqualTo(place);
    assertThat(linked.length()).isEqualTo(content.length);
    JsonNode there = onBranch();
    assertThat(there).hasSize(1);
    assertThat(there.get(0).path("path").asText()).isEqualTo(table.key(place));
    assertThat(there.get(0).path("size_bytes").asLong()).isEqualTo(content.length);
    assertThat(there.get(0).path("checksum").asText()).isEqualTo(linked.etag());
    String object = "/objects?path=" + encoded(table.key(place));
    assertThat(ask("GET", "refs/" + table.branchOf(JOB) + object, "")).isEqualTo(content);
  }

  private void assertNothingIsThere() throws Exception {
    assertThat(onBranch()).isEmpty();
  }

  private JsonNode onBranch() throws Exception {
    byte[] page = ask("GET", "refs/" + table.branchOf(JOB) + "/objects/ls", "");
    return new ObjectMapper().readTree(page).path("results");
  }

  private byte[] ask(String method, String path, String body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create(conf.get(LakefsTable.ENDPOINT) + "/repositories/lake/" + path))
            .header("Authorization", CREDENTIALS)
            .method(method, BodyPublishers.ofString(body))
            .build();
    HttpResponse<byte[]> response = client.send(request, BodyHandlers.ofByteArray());
    assertThat(response.statusCode()).isBetween(200, 299);
    return response.body();
  }

  private void forget() {
    lakefs.log().clear();
    s3.log().clear();
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private static String md5(byte[] content) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(content));
  }
}
