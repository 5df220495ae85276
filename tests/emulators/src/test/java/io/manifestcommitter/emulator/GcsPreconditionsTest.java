// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.GcsClient.Answer;
import org.junit.jupiter.api.Test;

final class GcsPreconditionsTest extends GcsTest {
  @Test
  void matchZeroMakesAnObjectOnlyOnce() throws Exception {
    assertThat(client.insert("f", "first", "&ifGenerationMatch=0").status()).isEqualTo(200);

    Answer second = client.insert("f", "second", "&ifGenerationMatch=0");

    assertThat(second.status()).isEqualTo(412);
    assertThat(second.reason()).isEqualTo("conditionNotMet");
    assertThat(client.content("f")).isEqualTo("first");
  }

  @Test
  void anOverwriteCanBeTiedToAGeneration() throws Exception {
    String old = client.insert("f", "first").get("generation");
    String live = client.insert("f", "second").get("generation");
    assertThat(Long.parseLong(live)).isGreaterThan(Long.parseLong(old));

    assertThat(client.insert("f", "x", "&ifGenerationMatch=" + old).status()).isEqualTo(412);
    assertThat(client.insert("f", "x", "&ifGenerationNotMatch=" + live).status()).isEqualTo(412);
    assertThat(client.insert("none", "x", "&ifGenerationMatch=" + live).status()).isEqualTo(412);
    assertThat(client.insert("f", "third", "&ifGenerationMatch=" + live).status()).isEqualTo(200);
    assertThat(client.content("f")).isEqualTo("third");
  }

  @Test
  void ofAWriteEveryConditionButMatchZeroWantsAnObjectThere() throws Exception {
    assertThat(client.insert("n", "x", "&ifGenerationNotMatch=0").status()).isEqualTo(412);
    assertThat(client.insert("n", "x", "&ifMetagenerationMatch=1").status()).isEqualTo(412);
    assertThat(client.insert("n", "x", "&ifMetagenerationNotMatch=1").status()).isEqualTo(412);
    assertThat(emulator.tree()).isEmpty();
  }

  @Test
  void aReadAnswers412Or304() throws Exception {
    Answer made = client.insert("f", "x");
    String path = GcsClient.object("f");
    String live = made.get("generation");

    assertThat(client.send("GET", path + "?ifGenerationMatch=" + live).status()).isEqualTo(200);
    assertThat(client.send("GET", path + "?ifGenerationMatch=1").status()).isEqualTo(412);
    assertThat(client.send("GET", path + "?ifGenerationMatch=0").status()).isEqualTo(412);
    assertThat(client.send("GET", path + "?ifMetagenerationMatch=2").status()).isEqualTo(412);
    assertThat(client.send("GET", path + "?ifMetagenerationNotMatch=1").status()).isEqualTo(304);

    Answer unchanged = client.send("GET", path + "?alt=media&ifGenerationNotMatch=" + live);
    assertThat(unchanged.status()).isEqualTo(304);
    assertThat(unchanged.body()).isEmpty();

    String etag = made.get("etag");
    assertThat(client.send("GET", path, new byte[0], "If-None-Match", etag).status())
        .isEqualTo(304);
    assertThat(client.send("GET", path, new byte[0], "If-Match", "another").status())
        .isEqualTo(412);
  }

  @Test
  void anotherGenerationIsMissing() throws Exception {
    String path = GcsClient.object("f");
    String live = client.insert("f", "x").get("generation");

    assertThat(client.send("GET", path + "?generation=" + live).status()).isEqualTo(200);
    assertThat(client.send("GET", path + "?generation=1").status()).isEqualTo(404);
    assertThat(client.send("GET", GcsClient.object("none") + "?ifGenerationMatch=1").status())
        .isEqualTo(404);
  }

  @Test
  void aDeleteCanBeTiedToAGeneration() throws Exception {
    String path = GcsClient.object("f");
    String live = client.insert("f", "x").get("generation");

    assertThat(client.send("DELETE", path + "?ifGenerationMatch=1").status()).isEqualTo(412);
    assertThat(client.send("DELETE", path + "?ifGenerationMatch=" + live).status()).isEqualTo(204);
    assertThat(client.send("DELETE", path + "?ifGenerationMatch=" + live).status()).isEqualTo(404);
  }

  @Test
  void aPatchIsANewMetagenerationOfTheSameGeneration() throws Exception {
    Answer made = client.insert("f", "x");
    String path = GcsClient.object("f");

    Answer patched = client.send("PATCH", path, GcsClient.bytes("{\"metadata\":{\"a\":\"1\"}}"));
    assertThat(patched.get("generation")).isEqualTo(made.get("generation"));
    assertThat(patched.get("metageneration")).isEqualTo("2");
    assertThat(patched.get("etag")).isNotEqualTo(made.get("etag"));
    assertThat(patched.json().at("/metadata/a").asText()).isEqualTo("1");
    assertThat(patched.get("contentType")).isEqualTo("text/plain");

    byte[] removal = GcsClient.bytes("{\"metadata\":{\"a\":null,\"b\":\"2\"}}");
    assertThat(client.send("PATCH", path + "?ifMetagenerationMatch=1", removal).status())
        .isEqualTo(412);
    Answer again = client.send("PATCH", path + "?ifMetagenerationMatch=2", removal);
    assertThat(again.json().path("metadata").toString()).isEqualTo("{\"b\":\"2\"}");

    Answer byPost =
        client.send(
            "POST",
            path,
            GcsClient.bytes("{\"contentType\":\"a/b\"}"),
            "X-HTTP-Method-Override",
            "PATCH");
    assertThat(byPost.get("contentType")).isEqualTo("a/b");
    assertThat(byPost.get("metageneration")).isEqualTo("4");
  }

  @Test
  void conditionsThatCannotBeReadAreNotIgnored() throws Exception {
    assertThat(client.insert("f", "x", "&ifGenerationMatch=abc").status()).isEqualTo(400);
    assertThat(client.insert("f", "x", "&ifGenerationMatch=0&ifGenerationNotMatch=1").status())
        .isEqualTo(400);
    assertThat(emulator.tree()).isEmpty();
  }
}
