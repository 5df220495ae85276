// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.GcsClient.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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
}
