// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What tests of Java change; the protocol is tested by lakeFS's own clients. */
@Timeout(120)
final class LakefsEmulatorTest {
  private static final String AUTHORIZATION =
      "Basic " + Base64.getEncoder().encodeToString("key:secret".getBytes(StandardCharsets.UTF_8));

  private final HttpClient client = HttpClient.newHttpClient();
  private S3Emulator s3;
  private LakefsEmulator lakefs;

  @BeforeEach
  void start() throws IOException {
    s3 = S3Emulator.start();
    lakefs = LakefsEmulator.start(s3);
  }

  @AfterEach
  void close() {
    lakefs.close();
    s3.close();
  }

  @Test
  void treeHasWhatIsStaged() throws Exception {
    put("lake", "d/f");

    assertThat(lakefs.tree()).isEqualTo(Map.of("/d/f", 1L));
  }

  @Test
  void objectsAreInTheBucket() throws Exception {
    put("lake", "d/f");

    assertThat(s3.tree().keySet()).singleElement().asString().startsWith("/lake/data/");
  }

  @Test
  void objectsAreInALocalDirectory(@TempDir Path directory) throws Exception {
    lakefs.create("local", "local://" + directory);

    put("local", "d/f");

    assertThat(Files.isDirectory(directory.resolve("data"))).isTrue();
  }

  @Test
  void aRepositoryIsMadeOnce() {
    assertThatThrownBy(() -> lakefs.create("lake", "s3://emulated/other"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("already exists");
  }

  @Test
  void protectionTakesEffectAMinuteLater() throws Exception {
    lakefs.protect("lake", "ma*");
    assertThat(put("lake", "f").statusCode()).isEqualTo(201);

    lakefs.advance(Duration.ofMinutes(1));

    assertThat(put("lake", "f").statusCode()).isEqualTo(403);
  }

  @Test
  void abilitiesAreTakenAndGivenBack() throws Exception {
    lakefs.without("import_support");
    String without = send("GET", "config", "").body();

    lakefs.without();

    assertThat(without).contains("\"import_support\":false");
    assertThat(send("GET", "config", "").body()).contains("\"import_support\":true");
  }

  @Test
  void theBlockstoreIsTold() throws Exception {
    lakefs.blockstore("local");

    assertThat(send("GET", "config", "").body())
        .contains("\"blockstore_type\":\"local\"", "\"pre_sign_support\":false");
  }

  @Test
  void aMergeIsHeldAfterItsSourceWasLookedUp() throws Exception {
    String repository = "repositories/lake";
    send("POST", repository + "/branches", "{\"name\":\"job\",\"source\":\"main\"}");
    send("POST", repository + "/branches/job/objects?path=f", "x");
    send("POST", repository + "/branches/job/commits", "{\"message\":\"m\"}");
    FaultRule rule = lakefs.faults().add(FaultRule.on("merge-resolved").hold());
    CompletableFuture<HttpResponse<String>> merged =
        client.sendAsync(
            request("POST", repository + "/refs/job/merge/main", ""), BodyHandlers.ofString());
    rule.awaitHeld();
    send("DELETE", repository + "/branches/job", "");

    rule.release();

    assertThat(merged.get().statusCode()).isEqualTo(200);
    assertThat(lakefs.tree()).containsOnlyKeys("/f");
  }

  private HttpResponse<String> put(String repository, String path) throws Exception {
    return send("POST", "repositories/" + repository + "/branches/main/objects?path=" + path, "x");
  }

  private HttpResponse<String> send(String method, String path, String body) throws Exception {
    return client.send(request(method, path, body), BodyHandlers.ofString());
  }

  private HttpRequest request(String method, String path, String body) {
    return HttpRequest.newBuilder(
            URI.create(lakefs.settings().get("fs.lakefs.endpoint") + "/" + path))
        .header("Authorization", AUTHORIZATION)
        .method(method, BodyPublishers.ofString(body))
        .build();
  }
}
