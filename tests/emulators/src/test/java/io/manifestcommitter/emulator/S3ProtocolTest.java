// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static io.manifestcommitter.emulator.S3Client.code;
import static io.manifestcommitter.emulator.S3Client.texts;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class S3ProtocolTest {
  private S3Emulator emulator;
  private S3Client client;

  @BeforeEach
  void start() throws IOException {
    emulator = S3Emulator.start();
    client = new S3Client(emulator);
  }

  @AfterEach
  void stop() {
    emulator.close();
  }

  @Test
  void anEtagIsTheHashOfTheBytesOrOfThePartsHashes() throws Exception {
    assertThat(client.put("a", "hello").headers().firstValue("ETag"))
        .contains("\"5d41402abc4b2a76b9719d911017c592\"");

    String upload = client.initiate("b");
    String etag = client.part("b", upload, 1, "hello");
    assertThat(etag).isEqualTo("\"5d41402abc4b2a76b9719d911017c592\"");
    // That of these 16 bytes.
    assertThat(texts(client.complete("b", upload, etag), "ETag"))
        .containsExactly("\"62109206880d38a4010a98e11243924a-1\"");
  }

  @Test
  void nothingIsSeenOfAnUploadBeforeItIsCompleted() throws Exception {
    client.put("b", "old");
    String upload = client.initiate("b");
    String etag = client.part("b", upload, 1, "new");

    assertThat(client.content("b")).isEqualTo("old");
    assertThat(emulator.uploads()).containsExactly("b");
    assertThat(client.complete("b", upload, etag).statusCode()).isEqualTo(200);
    assertThat(client.content("b")).isEqualTo("new");
    assertThat(emulator.uploads()).isEmpty();
  }

  @Test
  void anUploadOfWrongPartsIsNotCompleted() throws Exception {
    String upload = client.initiate("b");
    String etag = client.part("b", upload, 1, "small");
    client.part("b", upload, 2, "last");

    assertThat(code(client.complete("b", upload, "\"0\""))).isEqualTo("InvalidPart");
    String last = client.part("b", upload, 2, "last");
    assertThat(code(client.complete("b", upload, etag, last))).isEqualTo("EntityTooSmall");
    assertThat(code(client.complete("b", upload))).isEqualTo("MalformedXML");
    assertThat(code(client.complete("other", upload, etag))).isEqualTo("NoSuchUpload");
    assertThat(client.send("HEAD", "/b").statusCode()).isEqualTo(404);
    assertThat(emulator.uploads()).containsExactly("b");
  }

  @Test
  void aRepeatedCompletionSaysNothingAboutTheKey() throws Exception {
    String upload = client.initiate("b");
    String etag = client.part("b", upload, 1, "ours");
    client.complete("b", upload, etag);
    client.put("b", "theirs");

    assertThat(client.complete("b", upload, etag).statusCode()).isEqualTo(200);
    assertThat(client.content("b")).isEqualTo("theirs");
  }

  @Test
  void aCompletionThatIsForgottenIsRefused() throws Exception {
    emulator.forgetCompletions();
    String upload = client.initiate("b");
    String etag = client.part("b", upload, 1, "ours");
    client.complete("b", upload, etag);

    assertThat(code(client.complete("b", upload, etag))).isEqualTo("NoSuchUpload");
    assertThat(client.content("b")).isEqualTo("ours");
  }

  @Test
  void aPartHasANumberThatS3Takes() throws Exception {
    String query = "/b?uploadId=" + client.initiate("b") + "&partNumber=";

    for (String number : List.of("0", "10001", "x", "-1")) {
      assertThat(code(client.send("PUT", query + number, "y")))
          .as(number)
          .isEqualTo("InvalidArgument");
    }
  }

  @Test
  void aBodyThatIsNotWhatItsHashSaysIsRefused() throws Exception {
    for (String header : List.of("Content-MD5", "x-amz-checksum-crc32c", "x-amz-checksum-sha256")) {
      assertThat(code(client.send("PUT", "/a", "hello", header, "AAAAAA==")))
          .as(header)
          .isEqualTo("BadDigest");
    }
    assertThat(
            client
                .send("PUT", "/a", "hello", "Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==")
                .statusCode())
        .isEqualTo(200);
  }

  @Test
  void aDeletionOfManyNeedsAHashAndNoMoreThanAThousandKeys() throws Exception {
    client.put("a", "x");
    String body = "<Delete><Object><Key>a</Key></Object><Object><Key>none</Key></Object></Delete>";

    assertThat(code(client.send("POST", "?delete", body))).isEqualTo("InvalidRequest");
    assertThat(texts(client.send("POST", "?delete", body, md5(body)), "Key"))
        .containsExactly("a", "none");
    assertThat(emulator.tree()).isEmpty();

    StringBuilder many = new StringBuilder("<Delete>");
    for (int i = 0; i < 1001; i++) {
      many.append("<Object><Key>a").append(i).append("</Key></Object>");
    }
    body = many.append("</Delete>").toString();
    assertThat(code(client.send("POST", "?delete", body, md5(body)))).isEqualTo("MalformedXML");
  }

  private static String[] md5(String body) {
    byte[] hash = S3Hashes.md5(body.getBytes(StandardCharsets.UTF_8));
    return new String[] {"Content-MD5", Base64.getEncoder().encodeToString(hash)};
  }

  @Test
  void everyPageSizeGivesTheSameWhole() throws Exception {
    for (String key : List.of("d/", "d/a/1", "d/a/2", "d/a/", "d/b", "d/c/", "d/c/3", "d/e", "f")) {
      client.put(key, "x");
    }
    for (String query : List.of("?list-type=2", "?list-type=2&prefix=d/&delimiter=/")) {
      List<String> whole = pages(query, 1000);
      for (int size = 1; size <= 10; size++) {
        assertThat(pages(query, size)).as(query + " by " + size).isEqualTo(whole);
      }
    }
    assertThat(pages("?list-type=2&prefix=d/&delimiter=/", 1000))
        .containsExactly("d/", "d/b", "d/e", "d/a/", "d/c/");
    assertThat(pages("?list-type=2&start-after=d/b", 2))
        .containsExactly("d/c/", "d/c/3", "d/e", "f");
  }

  /** Keys of all pages, then prefixes. */
  private List<String> pages(String query, int size) throws Exception {
    List<String> keys = new ArrayList<>();
    List<String> prefixes = new ArrayList<>();
    String more = "";
    boolean isTruncated = true;
    while (isTruncated) {
      HttpResponse<String> page = client.send("GET", query + "&max-keys=" + size + more);
      assertThat(page.statusCode()).isEqualTo(200);
      keys.addAll(texts(page, "Key"));
      for (String part : page.body().split("<CommonPrefixes>", -1)) {
        if (part.startsWith("<Prefix>")) {
          prefixes.add(part.substring("<Prefix>".length(), part.indexOf("</Prefix>")));
        }
      }
      isTruncated = texts(page, "IsTruncated").equals(List.of("true"));
      if (isTruncated) {
        assertThat(texts(page, "KeyCount")).containsExactly("" + size);
        more = "&continuation-token=" + texts(page, "NextContinuationToken").get(0);
      }
    }
    keys.addAll(prefixes);
    return keys;
  }

  @Test
  void whatItDoesNotKnowIsSaidAndLogged() throws Exception {
    client.put("a", "x");
    for (String query : List.of("/a?tagging", "?versions", "/a?versionId=1", "/a?acl")) {
      assertThat(client.send("GET", query).statusCode()).as(query).isEqualTo(501);
    }
    assertThat(client.send("GET", "?prefix=").statusCode()).isEqualTo(501);
    assertThat(client.send("GET", "/a", "", "If-Modified-Since", "x").statusCode()).isEqualTo(501);
    assertThat(emulator.log().counts()).containsEntry("unknown", 4L);
  }

  @Test
  void aFaultIsWordedAsS3DoesIt() throws Exception {
    emulator.faults().add(FaultRule.on("put").refuse(503));
    emulator.faults().add(FaultRule.on("complete").refuse(200, "InternalError"));

    assertThat(code(client.put("a", "x"))).isEqualTo("SlowDown");
    String upload = client.initiate("b");
    HttpResponse<String> failed = client.complete("b", upload, client.part("b", upload, 1, "x"));
    assertThat(failed.statusCode()).isEqualTo(200);
    assertThat(code(failed)).isEqualTo("InternalError");
    assertThat(emulator.tree()).isEmpty();
  }
}
