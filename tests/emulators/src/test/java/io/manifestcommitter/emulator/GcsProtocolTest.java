// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.manifestcommitter.emulator.GcsClient.Answer;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class GcsProtocolTest extends GcsTest {
  @Test
  void aRangeOfTheContent() throws Exception {
    client.insert("f", "0123456789");
    String path = "/download" + GcsClient.object("f") + "?alt=media";

    Answer middle = client.send("GET", path, new byte[0], "Range", "bytes=2-4");
    assertThat(middle.status()).isEqualTo(206);
    assertThat(middle.text()).isEqualTo("234");
    assertThat(middle.header("Content-Range")).isEqualTo("bytes 2-4/10");
    assertThat(client.send("GET", path, new byte[0], "Range", "bytes=7-").text()).isEqualTo("789");
    assertThat(client.send("GET", path, new byte[0], "Range", "bytes=-2").text()).isEqualTo("89");
    assertThat(client.send("GET", path, new byte[0], "Range", "bytes=8-99").text()).isEqualTo("89");

    Answer beyond = client.send("GET", path, new byte[0], "Range", "bytes=10-");
    assertThat(beyond.status()).isEqualTo(416);
    assertThat(beyond.reason()).isEqualTo("requestedRangeNotSatisfiable");
    assertThat(emulator.log().counts()).isEqualTo(Map.of("insert", 1L, "read", 5L));
  }

  @Test
  void theContentComesWithItsHashes() throws Exception {
    String generation = client.insert("f", "123456789").get("generation");

    Answer read = client.send("GET", GcsClient.object("f") + "?alt=media");

    assertThat(read.header("X-Goog-Hash"))
        .isEqualTo("crc32c=4waSgw==,md5=JfnnlDI7RTiF9RgfG2JNCw==");
    assertThat(read.header("X-Goog-Generation")).isEqualTo(generation);
    assertThat(read.header("Content-Type")).isEqualTo("text/plain");
  }

  @Test
  void anObjectTellsItsTimes() throws Exception {
    Answer made = client.insert("f", "x");

    Instant created = Instant.parse(made.get("timeCreated"));
    assertThat(made.get("updated")).isEqualTo(made.get("timeCreated"));
    assertThat(made.get("timeCreated")).matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d.*Z");
    assertThat(Long.parseLong(made.get("generation")))
        .isGreaterThanOrEqualTo(created.minusSeconds(1).toEpochMilli() * 1000);
  }

  @Test
  void whatIsMissingIsSaidAsGoogleSaysIt() throws Exception {
    Answer missing = client.send("GET", GcsClient.object("a/none"));

    assertThat(missing.status()).isEqualTo(404);
    JsonNode error = missing.json().path("error");
    assertThat(error.path("code").asInt()).isEqualTo(404);
    assertThat(error.path("message").asText()).isEqualTo("No such object: emulated/a/none");
    assertThat(error.at("/errors/0/domain").asText()).isEqualTo("global");
    assertThat(error.at("/errors/0/reason").asText()).isEqualTo("notFound");
    assertThat(client.send("DELETE", GcsClient.object("a/none")).status()).isEqualTo(404);
    assertThat(client.send("PATCH", GcsClient.object("a/none")).status()).isEqualTo(404);
  }

  @Test
  void refusalsHaveTheReasonsThatClientsLookFor() throws Exception {
    client.insert("f", "x");
    emulator.faults().add(FaultRule.on("get").call(1).refuse(429));
    emulator.faults().add(FaultRule.on("get").call(2).refuse(503));
    emulator.faults().add(FaultRule.on("get").call(3).refuse(403, "forbidden"));

    JsonNode throttled = client.send("GET", GcsClient.object("f")).json().path("error");
    assertThat(throttled.path("code").asInt()).isEqualTo(429);
    assertThat(throttled.at("/errors/0/domain").asText()).isEqualTo("usageLimits");
    assertThat(throttled.at("/errors/0/reason").asText()).isEqualTo("rateLimitExceeded");
    assertThat(client.send("GET", GcsClient.object("f")).reason()).isEqualTo("backendError");
    assertThat(client.send("GET", GcsClient.object("f")).reason()).isEqualTo("forbidden");
    assertThat(client.send("GET", GcsClient.object("f")).status()).isEqualTo(200);
  }

  @Test
  void bucketsAndTheirLayout() throws Exception {
    String buckets = "/storage/v1/b";
    assertThat(client.send("GET", buckets + "/emulated").get("name")).isEqualTo("emulated");
    assertThat(client.send("GET", buckets + "/none").status()).isEqualTo(404);
    byte[] second = GcsClient.bytes("{\"name\":\"second\"}");
    assertThat(client.send("POST", buckets + "?project=p", second).status()).isEqualTo(200);
    assertThat(client.send("POST", buckets + "?project=p", second).reason()).isEqualTo("conflict");
    assertThat(client.send("GET", buckets + "?project=p").names())
        .containsExactly("emulated", "hierarchical", "second");
    Answer layout = client.send("GET", buckets + "/emulated/storageLayout");
    assertThat(layout.json().at("/hierarchicalNamespace/enabled").asBoolean(true)).isFalse();

    client.insert("f", "x");
    assertThat(client.send("DELETE", buckets + "/emulated").status()).isEqualTo(409);
    assertThat(client.send("DELETE", buckets + "/second").status()).isEqualTo(204);
    assertThat(emulator.log().counts()).containsEntry("layout", 1L).containsEntry("bucket", 7L);
  }

  @Test
  void whatIsNotServedIsRefused() throws Exception {
    for (String path :
        new String[] {"/batch/storage/v1", "/storage/v1/b/emulated/acl", "/storage/v2/b/x", "/"}) {
      Answer unknown = client.send("POST", path);
      assertThat(unknown.status()).as(path).isEqualTo(400);
      assertThat(unknown.json().at("/error/message").asText()).contains("POST " + path);
    }
    assertThat(client.send("POST", GcsClient.object("f")).status()).isEqualTo(400);
    assertThat(client.send("GET", GcsClient.object("f") + "/moveTo/o/g").status()).isEqualTo(400);
    assertThat(client.send("PATCH", "/storage/v1/b/emulated/o").status()).isEqualTo(400);
    assertThat(client.send("PATCH", "/storage/v1/b/emulated").status()).isEqualTo(400);
    byte[] array = GcsClient.bytes("[]");
    assertThat(client.send("POST", "/storage/v1/b", array).reason()).isEqualTo("parseError");
  }

  @Test
  void anErrorMayComeFromSomethingOnTheWay() throws Exception {
    emulator.faults().add(FaultRule.on("get").refuse(502, FaultRule.NOT_THE_STORE));

    GcsClient.Answer refused = client.send("GET", GcsClient.object("a"));

    assertThat(refused.status()).isEqualTo(502);
    assertThat(refused.header("Content-Type")).isEqualTo("text/html");
    assertThat(refused.text()).startsWith("<html>");
  }
}
