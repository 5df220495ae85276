// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

/** JSON for programs: one line of ASCII. */
public final class Json {
  private static final JsonFactory FACTORY =
      new JsonFactoryBuilder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private Json() {}

  public static String line(Content content) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = FACTORY.createGenerator(text)) {
      content.write(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  /** What is written. */
  public interface Content {
    void write(JsonGenerator json) throws IOException;
  }
}
