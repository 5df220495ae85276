// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.GcsClient.Answer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class GcsUploadTest extends GcsTest {
  private static final int CHUNK = 256 * 1024;

  private Answer open(String query, String metadata) throws Exception {
    return client.send(
        "POST",
        "/upload/storage/v1/b/emulated/o?uploadType=resumable" + query,
        GcsClient.bytes(metadata),
        "Content-Type",
        "application/json",
        "X-Upload-Content-Type",
        "application/x-test");
  }

  private Answer put(String session, byte[] chunk, String range) throws Exception {
    return client.send("PUT", session, chunk, "Content-Range", range);
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  @Test
  void chunksMakeAnObjectOnlyWithTheLast() throws Exception {
    byte[] content = random(2 * CHUNK + 1000);
    String session = open("", "{\"name\":\"d/f\",\"metadata\":{\"k\":\"v\"}}").header("Location");

    Answer status = put(session, new byte[0], "bytes */*");
    assertThat(status.status()).isEqualTo(308);
    assertThat(status.header("Range")).isEmpty();

    byte[] first = Arrays.copyOf(content, CHUNK);
    Answer one = put(session, first, "bytes 0-" + (CHUNK - 1) + "/*");
    assertThat(one.status()).isEqualTo(308);
    assertThat(one.header("Range")).isEqualTo("bytes=0-" + (CHUNK - 1));

    // The answer was lost: the same chunk again.
    Answer again = put(session, first, "bytes 0-" + (CHUNK - 1) + "/*");
    assertThat(again.header("Range")).isEqualTo("bytes=0-" + (CHUNK - 1));

    byte[] second = Arrays.copyOfRange(content, CHUNK, 2 * CHUNK);
    put(session, second, "bytes " + CHUNK + "-" + (2 * CHUNK - 1) + "/*");
    assertThat(put(session, new byte[0], "bytes */*").header("Range"))
        .isEqualTo("bytes=0-" + (2 * CHUNK - 1));
    assertThat(emulator.tree()).isEmpty();

    byte[] last = Arrays.copyOfRange(content, 2 * CHUNK, content.length);
    String range = "bytes " + 2 * CHUNK + "-" + (content.length - 1) + "/" + content.length;
    Answer done = put(session, last, range);
    assertThat(done.status()).isEqualTo(200);
    assertThat(done.get("size")).isEqualTo(Integer.toString(content.length));
    assertThat(done.get("contentType")).isEqualTo("application/x-test");
    assertThat(done.json().at("/metadata/k").asText()).isEqualTo("v");

    assertThat(put(session, last, range).get("generation")).isEqualTo(done.get("generation"));
    assertThat(put(session, new byte[0], "bytes */*").get("generation"))
        .isEqualTo(done.get("generation"));
    assertThat(client.send("GET", GcsClient.object("d/f") + "?alt=media").body())
        .isEqualTo(content);
    assertThat(emulator.log().counts()).containsEntry("insert", 1L).containsEntry("upload", 8L);
    assertThat(emulator.log().entries().get(1).path()).isEqualTo("/d/f");
  }

  @Test
  void aChunkMustContinueWhatIsThere() throws Exception {
    String session = open("&name=f", "").header("Location");

    assertThat(put(session, random(CHUNK), "bytes 1-" + CHUNK + "/*").status()).isEqualTo(400);
    assertThat(put(session, random(10), "bytes 0-9/*").status()).isEqualTo(400);
    assertThat(put(session, random(10), "bytes 0-10/11").status()).isEqualTo(400);
    assertThat(put(session, random(10), "10 bytes").status()).isEqualTo(400);
    assertThat(put(session, random(10), "bytes 0-9/10").status()).isEqualTo(200);
    assertThat(emulator.tree()).containsEntry("/f", 10L);
  }

  @Test
  void theConditionHoldsAtTheStartAndAtTheEnd() throws Exception {
    String session = open("&name=f&ifGenerationMatch=0", "").header("Location");
    client.insert("f", "meanwhile");

    assertThat(put(session, random(5), "bytes 0-4/5").status()).isEqualTo(412);
    assertThat(open("&name=f&ifGenerationMatch=0", "").status()).isEqualTo(412);
    assertThat(client.content("f")).isEqualTo("meanwhile");
  }
}
