// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The parameter {@code fields}. */
final class GcsPartialReplyTest extends GcsTest {
  @ParameterizedTest
  @ValueSource(strings = {"items(name,size),prefixes", "items/name,items/size,prefixes"})
  void aListingHasOnlyTheFieldsThatWereAskedFor(String fields) throws Exception {
    client.insert("a", "x");
    client.insert("d/b", "x");

    JsonNode listing = client.list("?delimiter=/&fields=" + GcsClient.encoded(fields)).json();

    assertThat(names(listing)).containsExactlyInAnyOrder("items", "prefixes");
    assertThat(names(listing.path("items").path(0))).containsExactlyInAnyOrder("name", "size");
    assertThat(listing.at("/prefixes/0").asText()).isEqualTo("d/");
  }

  @Test
  void anObjectHasOnlyTheFieldsThatWereAskedFor() throws Exception {
    client.insert("a", "x");

    JsonNode object = client.send("GET", GcsClient.object("a") + "?fields=generation").json();
    JsonNode all = client.send("GET", GcsClient.object("a") + "?fields=*").json();

    assertThat(names(object)).containsExactly("generation");
    assertThat(names(all)).contains("generation", "crc32c", "updated");
  }

  @ParameterizedTest
  @ValueSource(strings = {"items(name", "items)", ",", "items/"})
  void aSelectionThatCannotBeReadIsRefused(String fields) throws Exception {
    assertThat(client.list("?fields=" + GcsClient.encoded(fields)).status()).isEqualTo(400);
  }

  private static List<String> names(JsonNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }
}
