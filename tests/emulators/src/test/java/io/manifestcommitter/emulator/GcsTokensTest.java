// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.GcsClient.Answer;
import org.junit.jupiter.api.Test;

/** A request that is sent again with its idempotency token. */
final class GcsTokensTest extends GcsTest {
  private static final String HEADER = "x-goog-gcs-idempotency-token";

  @Test
  void aRepeatedMoveIsAnsweredWithItsFirstResult() throws Exception {
    client.insert("s", "x");

    Answer first = move("one");
    Answer again = move("one");
    Answer other = move("another");

    assertThat(again.status()).isEqualTo(200);
    assertThat(again.get("generation")).isEqualTo(first.get("generation"));
    assertThat(other.status()).isEqualTo(404);
  }

  @Test
  void anErrorIsNoResult() throws Exception {
    assertThat(move("one").status()).isEqualTo(404);
    client.insert("s", "x");

    assertThat(move("one").status()).isEqualTo(200);
  }

  @Test
  void whatTheServiceForgotIsANewRequest() throws Exception {
    client.insert("s", "x");
    emulator.forgetTokens();

    assertThat(move("one").status()).isEqualTo(200);
    assertThat(move("one").status()).isEqualTo(404);
  }

  @Test
  void aRepeatedDeletionIsAnsweredWithItsFirstResult() throws Exception {
    client.insert("s", "x");

    assertThat(delete("one").status()).isEqualTo(204);
    client.insert("s", "y");
    assertThat(delete("one").status()).isEqualTo(204);

    assertThat(client.content("s")).isEqualTo("y");
  }

  private Answer delete(String token) throws Exception {
    return client.send("DELETE", GcsClient.object("s"), new byte[0], HEADER, token);
  }

  private Answer move(String token) throws Exception {
    return client.send("POST", GcsClient.object("s") + "/moveTo/o/d", new byte[0], HEADER, token);
  }
}
