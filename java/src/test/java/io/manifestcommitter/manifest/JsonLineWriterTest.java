// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class JsonLineWriterTest {
  /** A line: a text in two parts, and a number. */
  private static final class Line {
    private final String begin;
    private final String end;
    private final long number;

    Line(String begin, String end, long number) {
      this.begin = begin;
      this.end = end;
      this.number = number;
    }
  }

  @Provide
  Arbitrary<List<Line>> lines() {
    Arbitrary<String> text =
        Arbitraries.strings()
            .withChars("ab/=\"\\\u0000\n\t\u001f\u007f \u00e4\u20ac\ud7ff\uffff")
            .ofMaxLength(12)
            .map(some -> some.replace("ba", "\ud83d\ude00"));
    Arbitrary<String> any = Arbitraries.oneOf(text, text.map(some -> some.repeat(3000)));
    Arbitrary<Long> number =
        Arbitraries.oneOf(
            Arbitraries.longs(),
            Arbitraries.longs().between(0, 1000),
            Arbitraries.of(0L, 10L, (long) Integer.MAX_VALUE, Integer.MAX_VALUE + 1L));
    return Combinators.combine(any, text, number).as(Line::new).list().ofMaxSize(20);
  }

  @Property(tries = 300)
  void linesAreJsonOfWhatWasWritten(@ForAll("lines") List<Line> lines) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    JsonLineWriter json = new JsonLineWriter(out);
    for (Line line : lines) {
      json.begin().text("text", line.begin, line.end).number("number", line.number).end();
    }
    json.flush();
    String[] written = out.toString(StandardCharsets.UTF_8).split("\n", -1);
    assertThat(written).hasSize(Math.max(1, lines.size()));
    for (int i = 0; i < lines.size(); i++) {
      try (JsonParser parser = new JsonFactory().createParser(written[i])) {
        parser.nextToken();
        assertThat(parser.nextFieldName()).isEqualTo("text");
        assertThat(parser.nextTextValue()).isEqualTo(lines.get(i).begin + lines.get(i).end);
        assertThat(parser.nextFieldName()).isEqualTo("number");
        assertThat(parser.nextLongValue(-1)).isEqualTo(lines.get(i).number);
        assertThat(parser.nextToken()).isEqualTo(JsonToken.END_OBJECT);
        assertThat(parser.nextToken()).isNull();
      }
    }
  }

  @Example
  void halfOfASurrogatePairIsRefused() {
    JsonLineWriter json = new JsonLineWriter(new ByteArrayOutputStream());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> json.begin().text("text", "a\ud83d"))
        .withMessageContaining("half of a surrogate pair");
  }
}
