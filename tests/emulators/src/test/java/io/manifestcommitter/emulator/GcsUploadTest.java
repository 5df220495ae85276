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
  void anEmptyObjectAndOneInASingleChunk() throws Exception {
    assertThat(put(open("&name=e", "").header("Location"), new byte[0], "bytes */0").status())
        .isEqualTo(200);
    Answer whole = client.send("PUT", open("&name=w", "").header("Location"), random(5));

    assertThat(whole.status()).isEqualTo(200);
    assertThat(emulator.tree()).containsEntry("/e", 0L).containsEntry("/w", 5L);
  }

  @Test
  void theConditionHoldsAtTheStartAndAtTheEnd() throws Exception {
    String session = open("&name=f&ifGenerationMatch=0", "").header("Location");
    client.insert("f", "meanwhile");

    assertThat(put(session, random(5), "bytes 0-4/5").status()).isEqualTo(412);
    assertThat(open("&name=f&ifGenerationMatch=0", "").status()).isEqualTo(412);
    assertThat(client.content("f")).isEqualTo("meanwhile");
  }

  @Test
  void aCancelledSessionIsGone() throws Exception {
    String session = open("&name=f", "").header("Location");

    assertThat(client.send("DELETE", session).status()).isEqualTo(499);
    assertThat(put(session, random(5), "bytes 0-4/5").status()).isEqualTo(404);
    assertThat(emulator.tree()).isEmpty();
  }

  @Test
  void checksumsAreComputedAndProven() throws Exception {
    Answer made = client.insert("f", "123456789");
    assertThat(made.get("crc32c")).isEqualTo("4waSgw==");
    assertThat(made.get("md5Hash")).isEqualTo("JfnnlDI7RTiF9RgfG2JNCw==");

    String session = open("", "{\"name\":\"g\",\"crc32c\":\"AAAAAA==\"}").header("Location");
    Answer wrong = put(session, GcsClient.bytes("123456789"), "bytes 0-8/9");
    assertThat(wrong.status()).isEqualTo(400);
    assertThat(wrong.reason()).isEqualTo("invalid");
    String other = open("&name=g", "").header("Location");
    Answer wrongHeader =
        client.send("PUT", other, GcsClient.bytes("x"), "X-Goog-Hash", "crc32c=AAAAAA==,md5=abc");
    assertThat(wrongHeader.status()).isEqualTo(400);
    assertThat(emulator.tree()).containsOnlyKeys("/f");
  }

  @Test
  void metadataAndContentInOneBody() throws Exception {
    String body =
        "--sep\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"
            + "{\"name\":\"d/\",\"metadata\":{\"k\":\"v\"},\"crc32c\":\"4waSgw==\"}\r\n"
            + "--sep\r\ncontent-type: text/x-test\r\n\r\n123456789\r\n--sep--";
    String path = "/upload/storage/v1/b/emulated/o?uploadType=multipart&ifGenerationMatch=0";
    String type = "multipart/related; boundary=\"sep\"";

    Answer made = client.send("POST", path, GcsClient.bytes(body), "Content-Type", type);

    assertThat(made.get("name")).isEqualTo("d/");
    assertThat(made.get("contentType")).isEqualTo("text/x-test");
    assertThat(made.json().at("/metadata/k").asText()).isEqualTo("v");
    assertThat(client.content("d/")).isEqualTo("123456789");
    assertThat(emulator.log().entries().get(0).path()).isEqualTo("/d/");
    assertThat(client.send("POST", path, GcsClient.bytes(body), "Content-Type", type).status())
        .isEqualTo(412);
    assertThat(
            client.send("POST", path, GcsClient.bytes("--sep\r\nx"), "Content-Type", type).status())
        .isEqualTo(400);
  }

  @Test
  void aNameThatNoObjectCanHave() throws Exception {
    assertThat(client.insert("..", "x").status()).isEqualTo(400);
    assertThat(client.insert("a".repeat(1025), "x").status()).isEqualTo(400);
    assertThat(client.insert("line\nbreak", "x").status()).isEqualTo(400);
    assertThat(client.insert("", "x").reason()).isEqualTo("required");
    assertThat(client.insert("a+b %2F ü/#?&=", "x").status()).isEqualTo(200);
    assertThat(client.content("a+b %2F ü/#?&=")).isEqualTo("x");
    assertThat(emulator.tree()).containsOnlyKeys("/a+b %2F ü/#?&=");
  }
}
