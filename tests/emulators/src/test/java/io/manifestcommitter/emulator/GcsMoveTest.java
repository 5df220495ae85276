// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.GcsClient.Answer;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

final class GcsMoveTest extends GcsTest {
  @Test
  void aMoveKeepsContentAndMetadataUnderANewGeneration() throws Exception {
    client.insert("dir/source", "content");
    Answer source =
        client.send(
            "PATCH",
            GcsClient.object("dir/source"),
            GcsClient.bytes("{\"metadata\":{\"k\":\"v\"}}"));

    Answer moved = client.move("dir/source", "other/destination", "");

    assertThat(moved.status()).isEqualTo(200);
    assertThat(moved.get("name")).isEqualTo("other/destination");
    assertThat(Long.parseLong(moved.get("generation")))
        .isGreaterThan(Long.parseLong(source.get("generation")));
    assertThat(moved.get("metageneration")).isEqualTo("1");
    for (String kept : List.of("crc32c", "md5Hash", "size", "contentType")) {
      assertThat(moved.get(kept)).as(kept).isEqualTo(source.get(kept));
    }
    assertThat(moved.json().at("/metadata/k").asText()).isEqualTo("v");
    assertThat(emulator.tree()).containsOnlyKeys("/other/destination");
    assertThat(client.content("other/destination")).isEqualTo("content");
    assertThat(emulator.log().counts()).containsEntry("move", 1L);
    assertThat(emulator.log().entries())
        .anySatisfy(entry -> assertThat(entry.path()).isEqualTo("/other/destination"));
  }

  @Test
  void withoutAConditionAMoveReplacesWhatIsThere() throws Exception {
    client.insert("s", "new");
    client.insert("d", "old");

    assertThat(client.move("s", "d", "").status()).isEqualTo(200);

    assertThat(emulator.tree()).containsOnlyKeys("/d");
    assertThat(client.content("d")).isEqualTo("new");
  }

  @Test
  void withMatchZeroAMoveLeavesBothAsTheyAre() throws Exception {
    String source = client.insert("s", "new").get("generation");
    String destination = client.insert("d", "old").get("generation");

    Answer refused = client.move("s", "d", "?ifGenerationMatch=0");

    assertThat(refused.status()).isEqualTo(412);
    assertThat(refused.reason()).isEqualTo("conditionNotMet");
    assertThat(client.content("s")).isEqualTo("new");
    assertThat(client.content("d")).isEqualTo("old");
    assertThat(client.move("s", "d", "?ifSourceGenerationMatch=1").status()).isEqualTo(412);
    String both = "?ifSourceGenerationMatch=" + source + "&ifGenerationMatch=" + destination;
    assertThat(client.move("s", "d", both).status()).isEqualTo(200);
    assertThat(client.content("d")).isEqualTo("new");
  }

  @Test
  void aRepeatedMoveFindsNoSource() throws Exception {
    client.insert("s", "x");
    assertThat(client.move("s", "d", "").status()).isEqualTo(200);

    Answer again = client.move("s", "d", "");

    assertThat(again.status()).isEqualTo(404);
    assertThat(again.reason()).isEqualTo("notFound");
    assertThat(client.content("d")).isEqualTo("x");
    assertThat(client.move("d", "d", "").status()).isEqualTo(400);
  }

  @Test
  void ofManyMovesToOneNameWithMatchZeroOneSucceeds() throws Exception {
    int movers = 16;
    for (int i = 0; i < movers; i++) {
      client.insert("s" + i, "content " + i);
    }
    ExecutorService threads = Executors.newFixedThreadPool(movers);
    List<Future<Integer>> answers = new ArrayList<>();
    for (int i = 0; i < movers; i++) {
      String source = "s" + i;
      answers.add(threads.submit(() -> client.move(source, "d", "?ifGenerationMatch=0").status()));
    }
    List<Integer> statuses = new ArrayList<>();
    for (Future<Integer> answer : answers) {
      statuses.add(answer.get());
    }
    threads.shutdown();

    assertThat(statuses).filteredOn(status -> status == 200).hasSize(1);
    assertThat(statuses).filteredOn(status -> status == 412).hasSize(movers - 1);
    assertThat(emulator.tree()).hasSize(movers).containsKey("/d");
    assertThat(client.content("d")).isEqualTo("content " + statuses.indexOf(200));
  }

  @Test
  void aBodylessPostMayBeGzipped() throws Exception {
    client.insert("s", "x");
    ByteArrayOutputStream empty = new ByteArrayOutputStream();
    new GZIPOutputStream(empty).close();

    Answer moved =
        client.send(
            "POST",
            GcsClient.object("s") + "/moveTo/o/d",
            empty.toByteArray(),
            "Content-Encoding",
            "gzip");

    assertThat(moved.status()).isEqualTo(200);
  }

  @Test
  void aRewriteCopiesAtOnceAndHasConditionsOnBothEnds() throws Exception {
    client.insert("s", "content");
    String patch = "{\"metadata\":{\"k\":\"v\"}}";
    String live =
        client.send("PATCH", GcsClient.object("s"), GcsClient.bytes(patch)).get("generation");
    String path = GcsClient.object("s") + "/rewriteTo/b/emulated/o/d";

    assertThat(client.send("POST", path + "?ifSourceGenerationMatch=1").status()).isEqualTo(412);
    assertThat(client.send("POST", path + "?ifSourceGenerationNotMatch=" + live).status())
        .isEqualTo(412);
    Answer done = client.send("POST", path + "?ifGenerationMatch=0&maxBytesRewrittenPerCall=1");

    assertThat(done.json().path("done").asBoolean()).isTrue();
    assertThat(done.get("totalBytesRewritten")).isEqualTo("7");
    assertThat(done.json().at("/resource/metadata/k").asText()).isEqualTo("v");
    assertThat(done.json().at("/resource/contentType").asText()).isEqualTo("text/plain");
    assertThat(client.send("POST", path + "?ifGenerationMatch=0").status()).isEqualTo(412);
    assertThat(emulator.tree()).containsOnlyKeys("/s", "/d");

    Answer changed =
        client.send("POST", path, GcsClient.bytes("{\"contentType\":\"application/json\"}"));
    assertThat(changed.json().at("/resource/contentType").asText()).isEqualTo("application/json");
    assertThat(changed.json().at("/resource/metadata").isMissingNode()).isTrue();
  }

  @Test
  void aCopyAnswersTheObject() throws Exception {
    client.insert("s", "content");

    Answer copied = client.send("POST", GcsClient.object("s") + "/copyTo/b/emulated/o/d%2Fe");

    assertThat(copied.get("name")).isEqualTo("d/e");
    assertThat(client.content("d/e")).isEqualTo("content");
  }

  @Test
  void aComposeJoinsItsSources() throws Exception {
    client.insert("a", "123");
    client.insert("b", "456789");
    String generation = client.send("GET", GcsClient.object("a")).get("generation");
    String request =
        "{\"sourceObjects\":[{\"name\":\"a\",\"objectPreconditions\":{\"ifGenerationMatch\":\"%s\"}},"
            + "{\"name\":\"b\"}],\"destination\":{\"contentType\":\"text/csv\"}}";

    Answer refused =
        client.send(
            "POST",
            GcsClient.object("c") + "/compose",
            GcsClient.bytes(String.format(request, "1")));
    assertThat(refused.status()).isEqualTo(412);
    Answer composed =
        client.send(
            "POST",
            GcsClient.object("c") + "/compose?ifGenerationMatch=0",
            GcsClient.bytes(String.format(request, generation)));

    assertThat(composed.get("crc32c")).isEqualTo("4waSgw==");
    assertThat(composed.get("componentCount")).isEqualTo("2");
    assertThat(composed.json().has("md5Hash")).isFalse();
    assertThat(composed.get("contentType")).isEqualTo("text/csv");
    assertThat(client.content("c")).isEqualTo("123456789");
  }
}
