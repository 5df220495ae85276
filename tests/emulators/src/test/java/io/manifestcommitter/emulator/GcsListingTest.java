// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.GcsClient.Answer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class GcsListingTest extends GcsTest {
  private void make(String... names) throws Exception {
    for (String name : names) {
      assertThat(client.insert(name, "x").status()).as(name).isEqualTo(200);
    }
  }

  /** All pages, items and prefixes in one list each. */
  private List<List<String>> pages(String query) throws Exception {
    List<String> items = new ArrayList<>();
    List<String> prefixes = new ArrayList<>();
    String token = "";
    int pages = 0;
    do {
      Answer page = client.list(query + (token.isEmpty() ? "" : "&pageToken=" + token));
      assertThat(page.status()).isEqualTo(200);
      items.addAll(page.names());
      prefixes.addAll(page.prefixes());
      token = page.get("nextPageToken");
      assertThat(++pages).isLessThan(100);
    } while (!token.isEmpty());
    return List.of(items, prefixes);
  }

  @Test
  void aDelimiterFoldsWhatIsBelow() throws Exception {
    make("d/", "d/a/1", "d/a/2", "d/b", "d/c/", "d/c/3", "d.x", "e");

    Answer level = client.list("?prefix=d/&delimiter=/");
    assertThat(level.names()).containsExactly("d/", "d/b");
    assertThat(level.prefixes()).containsExactly("d/a/", "d/c/");

    Answer trailing = client.list("?prefix=d/&delimiter=/&includeTrailingDelimiter=true");
    assertThat(trailing.names()).containsExactly("d/", "d/b", "d/c/");
    assertThat(trailing.prefixes()).containsExactly("d/a/", "d/c/");

    assertThat(client.list("?prefix=d").names())
        .containsExactly("d.x", "d/", "d/a/1", "d/a/2", "d/b", "d/c/", "d/c/3");
    assertThat(client.list("?delimiter=/").prefixes()).containsExactly("d/");
    assertThat(client.list("?prefix=none/&delimiter=/").json().has("items")).isFalse();
  }

  @Test
  void everyPageSizeGivesTheSameWhole() throws Exception {
    make("d/", "d/a/1", "d/a/2", "d/a/", "d/b", "d/c/", "d/c/3", "d/c/4/5", "d/e", "f");
    for (String query :
        List.of(
            "?prefix=",
            "?prefix=d/&delimiter=/",
            "?prefix=d/&delimiter=/&includeTrailingDelimiter=true",
            "?delimiter=/&includeTrailingDelimiter=true")) {
      List<List<String>> whole = pages(query);
      for (int size = 1; size <= 11; size++) {
        assertThat(pages(query + "&maxResults=" + size)).as(query + " by " + size).isEqualTo(whole);
      }
    }
  }

  @Test
  void aPageGoesOnWhereTheLastOneEndedThoughNamesWentAndCame() throws Exception {
    make("a", "b", "c", "d");
    String token = client.list("?maxResults=2").get("nextPageToken");
    assertThat(client.send("DELETE", GcsClient.object("b")).status()).isEqualTo(204);
    make("aa", "bb");

    assertThat(client.list("?pageToken=" + token).names()).containsExactly("bb", "c", "d");
  }

  @Test
  void whatIsNotServedIsRefused() throws Exception {
    assertThat(client.list("?versions=true").status()).isEqualTo(400);
    assertThat(client.list("?matchGlob=**").status()).isEqualTo(400);
    assertThat(client.list("?pageToken=%21%21").status()).isEqualTo(400);
    assertThat(client.list("?maxResults=many").status()).isEqualTo(400);
    assertThat(client.list("?versions=false").status()).isEqualTo(200);
    assertThat(client.send("GET", "/storage/v1/b/none/o").reason()).isEqualTo("notFound");
  }
}
