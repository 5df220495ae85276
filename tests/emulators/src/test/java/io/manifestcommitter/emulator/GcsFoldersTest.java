// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.GcsClient.Answer;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bucket with hierarchical namespace. */
final class GcsFoldersTest extends GcsTest {
  private static final String BUCKET = "/storage/v1/b/hierarchical";

  @Override
  GcsEmulator open() throws IOException {
    return GcsEmulator.startHierarchical();
  }

  @Test
  void theLayoutTellsWhichBucketHasFolders() throws Exception {
    assertThat(layout("hierarchical")).isTrue();
    assertThat(layout("emulated")).isFalse();
    assertThat(create("/storage/v1/b/emulated", "f/", "").status()).isEqualTo(400);
  }

  @Test
  void anObjectMakesItsFoldersWhichStayWhenItGoes() throws Exception {
    insert("a/b/file");

    assertThat(emulator.tree()).containsOnlyKeys("/a/", "/a/b/", "/a/b/file");
    assertThat(send("DELETE", "/o/" + GcsClient.encoded("a/b/file")).status()).isEqualTo(204);
    assertThat(emulator.tree()).containsOnlyKeys("/a/", "/a/b/");
    assertThat(list("?prefix=a/&delimiter=/").prefixes()).isEmpty();
    assertThat(list("?prefix=a/&delimiter=/&includeFoldersAsPrefixes=true").prefixes())
        .containsExactly("a/b/");
  }

  @Test
  void aFolderIsMadeOnceAndInAFolder() throws Exception {
    assertThat(create("a/b/", "").status()).isEqualTo(409);
    assertThat(create("a/b/", "?recursive=true").get("name")).isEqualTo("a/b/");
    assertThat(create("a/b/", "?recursive=true").status()).isEqualTo(409);
    assertThat(create("a/c/", "").status()).isEqualTo(200);
    assertThat(create("no-slash", "").status()).isEqualTo(400);
    assertThat(send("GET", folder("a/b/")).get("metageneration")).isEqualTo("1");
    assertThat(send("GET", folder("x/")).status()).isEqualTo(404);
    Answer folders = send("GET", "/folders?prefix=a/");
    assertThat(folders.names()).containsExactly("a/", "a/b/", "a/c/");
    assertThat(send("GET", "/folders?prefix=a/&delimiter=/").names())
        .containsExactly("a/b/", "a/c/");
  }

  @Test
  void onlyAnEmptyFolderIsDeleted() throws Exception {
    insert("a/b/file");

    assertThat(send("DELETE", folder("a/")).status()).isEqualTo(409);
    assertThat(send("DELETE", folder("a/b/")).status()).isEqualTo(409);
    send("DELETE", "/o/" + GcsClient.encoded("a/b/file"));
    assertThat(send("DELETE", folder("a/b/")).status()).isEqualTo(204);
    assertThat(send("DELETE", folder("a/b/")).status()).isEqualTo(404);
    assertThat(emulator.tree()).containsOnlyKeys("/a/");
  }

  @Test
  void aRenameTakesAllThatIsInTheFolder() throws Exception {
    insert("from/p=1/q=1/file");
    insert("from/p=1/");
    create("to/", "");

    Answer operation = rename("from/p=1/", "to/p=1/");

    assertThat(operation.get("done")).isEqualTo("true");
    assertThat(operation.json().at("/response/name").asText()).isEqualTo("to/p=1/");
    assertThat(emulator.tree())
        .containsOnlyKeys("/from/", "/to/", "/to/p=1/", "/to/p=1/q=1/", "/to/p=1/q=1/file");
    assertThat(rename("from/p=1/", "to/p=2/").status()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"to/", "none/below/", "from/below/"})
  void aRenameIsRefused(String destination) throws Exception {
    insert("from/file");
    create("to/", "");

    Answer refused = rename("from/", destination);

    assertThat(refused.status()).isEqualTo(destination.startsWith("from/") ? 400 : 409);
    assertThat(emulator.tree()).containsOnlyKeys("/from/", "/from/file", "/to/");
  }

  /** An object of that name is another matter. */
  @Test
  void anObjectOfTheDestinationsNameIsNoConflict() throws Exception {
    insert("from/file");
    insert("to");

    assertThat(rename("from/", "to/").status()).isEqualTo(200);

    assertThat(emulator.tree()).containsOnlyKeys("/to", "/to/", "/to/file");
  }

  @Test
  void whileARenameRunsAllIsReadAsBeforeAndNothingBelowEitherNameIsWritten() throws Exception {
    insert("from/file");
    insert("beside/file");
    emulator.holdRenames();

    Answer operation = rename("from/", "to/");

    assertThat(operation.get("done")).isEqualTo("false");
    assertThat(emulator.tree()).containsKey("/from/file");
    assertThat(send("GET", "/o/" + GcsClient.encoded("from/file")).status()).isEqualTo(200);
    assertThat(insert("from/late").status()).isEqualTo(429);
    assertThat(insert("to/early").status()).isEqualTo(429);
    assertThat(send("DELETE", "/o/" + GcsClient.encoded("from/file")).status()).isEqualTo(429);
    assertThat(rename("from/", "other/").status()).isEqualTo(429);
    assertThat(insert("beside/late").status()).isEqualTo(200);
    String id = "/operations/" + operation.get("name").replaceFirst(".*/", "");
    assertThat(send("GET", id).get("done")).isEqualTo("false");
    assertThat(running()).isEqualTo(1);

    emulator.releaseRenames();

    assertThat(send("GET", id).get("done")).isEqualTo("true");
    assertThat(running()).isZero();
    assertThat(emulator.tree()).containsKey("/to/file").doesNotContainKey("/from/file");
    assertThat(insert("from/late").status()).isEqualTo(200);
  }

  @Test
  void aRenameThatFailsChangesNothing() throws Exception {
    insert("from/file");
    emulator.failRenames();

    Answer operation = rename("from/", "to/");

    assertThat(operation.get("done")).isEqualTo("true");
    assertThat(operation.json().at("/error/message").asText()).isNotEmpty();
    assertThat(emulator.tree()).containsOnlyKeys("/from/", "/from/file");
    emulator.releaseRenames();
    assertThat(rename("from/", "to/").json().has("error")).isFalse();
  }

  private boolean layout(String bucket) throws IOException, InterruptedException {
    return client
        .send("GET", "/storage/v1/b/" + bucket + "/storageLayout")
        .json()
        .at("/hierarchicalNamespace/enabled")
        .asBoolean();
  }

  private int running() throws IOException, InterruptedException {
    return send("GET", "/operations?filter=done%3Dfalse").json().path("operations").size();
  }

  private Answer insert(String name) throws IOException, InterruptedException {
    return client.send(
        "POST",
        "/upload" + BUCKET + "/o?uploadType=media&name=" + GcsClient.encoded(name),
        GcsClient.bytes("x"));
  }

  private Answer create(String folder, String query) throws IOException, InterruptedException {
    return create(BUCKET, folder, query);
  }

  private Answer create(String bucket, String folder, String query)
      throws IOException, InterruptedException {
    return client.send(
        "POST", bucket + "/folders" + query, GcsClient.bytes("{\"name\":\"" + folder + "\"}"));
  }

  private Answer rename(String source, String destination)
      throws IOException, InterruptedException {
    return send("POST", folder(source) + "/renameTo" + folder(destination));
  }

  private Answer list(String query) throws IOException, InterruptedException {
    return send("GET", "/o" + query);
  }

  private static String folder(String name) {
    return "/folders/" + GcsClient.encoded(name);
  }

  private Answer send(String method, String path) throws IOException, InterruptedException {
    return client.send(method, BUCKET + path);
  }
}
