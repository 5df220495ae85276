// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class RowsTest {
  /** Texts of few characters, so that neighbours share much, half pairs among what they share. */
  @Provide
  Arbitrary<List<String>> texts() {
    return Arbitraries.of(
            "", "a", "b", "ab", "/", "\u00fc", "\ud83e\udd86", "\ud83e\udd85", "\ud83d\udd86")
        .list()
        .ofMaxSize(6)
        .map(parts -> String.join("", parts))
        .list()
        .ofMaxSize(50);
  }

  @Property
  void whatIsWrittenIsReadBack(@ForAll("texts") List<String> texts, @ForAll long number) {
    long positive = number & Long.MAX_VALUE;
    Rows.Writer writer = new Rows.Writer(2, 1);
    for (String text : texts) {
      writer.text(0, text).number(positive).plain(text).text(1, text + text);
    }
    Rows.Reader reader = new Rows.Reader(2, writer.take());
    for (String text : texts) {
      assertThat(reader.hasMore()).isTrue();
      assertThat(reader.text(0)).isEqualTo(text);
      assertThat(reader.number()).isEqualTo(positive);
      assertThat(reader.plain()).isEqualTo(text);
      assertThat(reader.text(1)).isEqualTo(text + text);
    }
    assertThat(reader.hasMore()).isFalse();
  }

  @Example
  void whatFollowsWhatWasTakenBeginsAnew() {
    Rows.Writer writer = new Rows.Writer(1, 16);
    writer.text(0, "part-00001-x");
    byte[] first = writer.take();
    writer.text(0, "part-00002-x");
    assertThat(new Rows.Reader(1, writer.take()).text(0)).isEqualTo("part-00002-x");
    assertThat(new Rows.Reader(1, first).text(0)).isEqualTo("part-00001-x");
  }
}
