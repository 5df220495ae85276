// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.manifestcommitter.emulator.GcsClient.Answer;
import org.junit.jupiter.api.Test;

final class GcsProtocolTest extends GcsTest {

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
