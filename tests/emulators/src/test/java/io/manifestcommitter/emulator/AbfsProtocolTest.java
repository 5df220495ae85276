// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

final class AbfsProtocolTest extends AbfsTest {
  @Nested
  final class RenameOntoDirectory {
    @BeforeEach
    void fill() throws Exception {
      dfs.write("/from/p=1/file", "new");
      dfs.mkdirs("/empty");
      dfs.write("/full/file", "old");
    }

    @Test
    void nests() throws Exception {
      assertThat(dfs.rename("/from/p=1", "/empty").statusCode()).isEqualTo(201);
      assertThat(dfs.rename("/full/file", "/from").statusCode()).isEqualTo(201);

      assertThat(emulator.tree())
          .containsOnlyKeys(
              "/empty/", "/empty/p=1/", "/empty/p=1/file", "/from/", "/from/file", "/full/");
    }

    @Test
    void nestsOntoNothingThatIsThere() throws Exception {
      dfs.mkdirs("/full/p=1");

      HttpResponse<String> refused = dfs.rename("/from/p=1", "/full");

      assertThat(refused.statusCode()).isEqualTo(409);
      assertThat(Dfs.code(refused)).isEqualTo("PathAlreadyExists");
      assertThat(emulator.tree()).containsKeys("/from/p=1/file", "/full/file");
    }

    @Test
    void conflicts() throws Exception {
      emulator.onExistingDirectory(Onto.CONFLICT);
      var before = emulator.tree();

      for (String directory : new String[] {"/empty", "/full"}) {
        HttpResponse<String> refused = dfs.rename("/from/p=1", directory);
        assertThat(refused.statusCode()).isEqualTo(409);
        assertThat(Dfs.code(refused)).isEqualTo("PathAlreadyExists");
      }

      assertThat(emulator.tree()).isEqualTo(before);
    }

    @Test
    void replacesIfEmpty() throws Exception {
      emulator.onExistingDirectory(Onto.REPLACES_IF_EMPTY);

      HttpResponse<String> refused = dfs.rename("/from/p=1", "/full");
      assertThat(refused.statusCode()).isEqualTo(409);
      assertThat(Dfs.code(refused)).isEqualTo("PathAlreadyExists");
      assertThat(dfs.rename("/from/p=1/file", "/empty").statusCode()).isEqualTo(409);
      assertThat(dfs.rename("/from/p=1", "/empty").statusCode()).isEqualTo(201);

      assertThat(emulator.tree())
          .containsOnlyKeys("/empty/", "/empty/file", "/from/", "/full/", "/full/file");
    }
  }

  @Test
  void renameKeepsEtagsOfAllBelow() throws Exception {
    dfs.write("/a/b/file", "x");
    String etag = dfs.etag("/a/b/file");
    String ofDirectory = dfs.etag("/a");

    assertThat(dfs.rename("/a", "/c").statusCode()).isEqualTo(201);

    assertThat(dfs.etag("/c/b/file")).isEqualTo(etag);
    assertThat(dfs.etag("/c")).isEqualTo(ofDirectory);
  }

  @Test
  void renameOntoFileReplacesOnlyWhenAllowed() throws Exception {
    dfs.write("/new", "new!");
    dfs.write("/old", "old");

    HttpResponse<String> refused = dfs.rename("/new", "/old");
    assertThat(refused.statusCode()).isEqualTo(409);
    assertThat(Dfs.code(refused)).isEqualTo("PathAlreadyExists");
    assertThat(dfs.send("PUT", "/old", "x-ms-rename-source", "/data/new").statusCode())
        .isEqualTo(201);

    assertThat(dfs.send("GET", "/old").body()).isEqualTo("new!");
    assertThat(emulator.tree()).containsOnlyKeys("/old");
  }

  @Test
  void renameTakesTheSourcesEtag() throws Exception {
    dfs.write("/from", "x");
    String etag = dfs.etag("/from");

    HttpResponse<String> refused =
        dfs.send(
            "PUT", "/to", "x-ms-rename-source", "/data/from", "x-ms-source-if-match", "\"0x1\"");
    assertThat(refused.statusCode()).isEqualTo(412);
    assertThat(Dfs.code(refused)).isEqualTo("SourceConditionNotMet");
    assertThat(emulator.tree()).containsOnlyKeys("/from");

    assertThat(
            dfs.send("PUT", "/to", "x-ms-rename-source", "/data/from", "x-ms-source-if-match", etag)
                .statusCode())
        .isEqualTo(201);
    assertThat(emulator.tree()).containsOnlyKeys("/to");
  }

  @Test
  void renameTellsWhatIsMissing() throws Exception {
    dfs.mkdirs("/d");

    HttpResponse<String> source = dfs.rename("/missing", "/e");
    assertThat(source.statusCode()).isEqualTo(404);
    assertThat(Dfs.code(source)).isEqualTo("SourcePathNotFound");
    HttpResponse<String> parent = dfs.rename("/d", "/missing/d");
    assertThat(parent.statusCode()).isEqualTo(404);
    assertThat(Dfs.code(parent)).isEqualTo("RenameDestinationParentPathNotFound");
    HttpResponse<String> below = dfs.rename("/d", "/d/e");
    assertThat(below.statusCode()).isEqualTo(409);
    assertThat(Dfs.code(below)).isEqualTo("InvalidRenameSourcePath");
    assertThat(emulator.tree()).containsOnlyKeys("/d/");
  }

  @Test
  void openFileOfARenamedDirectoryIsGone() throws Exception {
    dfs.send("PUT", "/d/file?resource=file");
    dfs.append("/d/file", 0, BodyPublishers.ofString("12"));
    dfs.rename("/d", "/e");

    assertThat(dfs.append("/d/file", 2, BodyPublishers.ofString("3")).statusCode()).isEqualTo(404);
    assertThat(dfs.flush("/d/file", 2).statusCode()).isEqualTo(404);
    assertThat(emulator.tree()).containsEntry("/e/file", 0L);
  }

  @Test
  void listingGoesOnAfterWhatWasDeletedMeanwhile() throws Exception {
    for (int i = 0; i < 6; i++) {
      dfs.mkdirs("/d/" + i);
    }
    String list = "?resource=filesystem&directory=d&recursive=false&maxResults=2";
    HttpResponse<String> first = dfs.send("GET", list);
    String token = first.headers().firstValue("x-ms-continuation").orElseThrow();
    dfs.send("DELETE", "/d/1?recursive=true");
    dfs.send("DELETE", "/d/2?recursive=true");

    HttpResponse<String> second = dfs.send("GET", list + "&continuation=" + token);

    assertThat(first.body()).contains("d/0", "d/1").doesNotContain("d/2");
    assertThat(second.body()).contains("d/3", "d/4").doesNotContain("d/5");
  }

  @Test
  void deleteGoesOnInPages() throws Exception {
    for (int i = 0; i < 5; i++) {
      dfs.mkdirs("/d/" + i);
    }
    emulator.deletePage(3);

    HttpResponse<String> first = dfs.send("DELETE", "/d?recursive=true&paginated=true");
    String token = first.headers().firstValue("x-ms-continuation").orElseThrow();
    assertThat(emulator.tree()).containsOnlyKeys("/d/", "/d/3/", "/d/4/");
    HttpResponse<String> second =
        dfs.send("DELETE", "/d?recursive=true&paginated=true&continuation=" + token);

    assertThat(second.statusCode()).isEqualTo(200);
    assertThat(second.headers().firstValue("x-ms-continuation")).isEmpty();
    assertThat(emulator.tree()).isEmpty();
  }

  @Test
  void flatAccountHasNoAccessControl() throws Exception {
    assertThat(dfs.send("HEAD", "/?action=getAccessControl").statusCode()).isEqualTo(200);
    assertThat(emulator.settings()).containsEntry("fs.azure.account.hns.enabled", "true");

    emulator.flat(true);

    assertThat(dfs.send("HEAD", "/?action=getAccessControl").statusCode()).isEqualTo(400);
    assertThat(emulator.settings()).doesNotContainKey("fs.azure.account.hns.enabled");
  }

  @Test
  void unknownRequestsSaySo() throws Exception {
    HttpResponse<String> request = dfs.send("PATCH", "/d?action=setExpiry");
    assertThat(request.statusCode()).isEqualTo(501);
    assertThat(request.body()).contains("setExpiry");
    HttpResponse<String> header =
        dfs.send("GET", "/d", "If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT");
    assertThat(header.statusCode()).isEqualTo(501);
    assertThat(header.body()).contains("If-Modified-Since");
  }
}
