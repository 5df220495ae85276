// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes objects of texts and numbers as JSON lines in UTF-8, for files of a million lines: nearly
 * all texts go to the stream as they are, without an object for any. Between lines there is a line
 * end, and none after the last. Not for use by several threads.
 */
final class JsonLineWriter {
  private static final int BUFFER = 16 << 10;

  /** Of a {@code long}, with its sign. */
  private static final int MOST_DIGITS = 20;

  private final OutputStream out;
  private final byte[] buffer = new byte[BUFFER];
  private int length;
  private boolean isFirstLine = true;
  private boolean isFirstField;

  /** Writes to a stream, which stays open. */
  JsonLineWriter(OutputStream out) {
    this.out = out;
  }

  /** Begins a line. */
  JsonLineWriter begin() throws IOException {
    require(2);
    if (!isFirstLine) {
      buffer[length++] = '\n';
    }
    buffer[length++] = '{';
    isFirstLine = false;
    isFirstField = true;
    return this;
  }

  /**
   * Adds a text.
   *
   * @throws IllegalArgumentException if it cannot be written as UTF-8
   */
  JsonLineWriter text(String field, String text) throws IOException {
    return text(field, "", text);
  }

  /** Adds a text that has a beginning and an end; see {@link #text(String, String)}. */
  JsonLineWriter text(String field, String begin, String end) throws IOException {
    field(field);
    require(1);
    buffer[length++] = '"';
    characters(begin);
    characters(end);
    require(1);
    buffer[length++] = '"';
    return this;
  }

  /** Adds a number. */
  JsonLineWriter number(String field, long number) throws IOException {
    field(field);
    require(MOST_DIGITS);
    if (number < 0 || number > Integer.MAX_VALUE) {
      characters(Long.toString(number));
      return this;
    }
    int rest = (int) number;
    int end = length;
    do {
      buffer[end++] = (byte) ('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    for (int low = length, high = end - 1; low < high; low++, high--) {
      byte digit = buffer[low];
      buffer[low] = buffer[high];
      buffer[high] = digit;
    }
    length = end;
    return this;
  }

  /** Ends the line. */
  void end() throws IOException {
    require(1);
    buffer[length++] = '}';
  }

  /** Hands everything so far to the stream. */
  void flush() throws IOException {
    out.write(buffer, 0, length);
    length = 0;
  }

  private void field(String name) throws IOException {
    require(2);
    if (!isFirstField) {
      buffer[length++] = ',';
    }
    isFirstField = false;
    buffer[length++] = '"';
    characters(name);
    require(2);
    buffer[length++] = '"';
    buffer[length++] = ':';
  }

  private void characters(String text) throws IOException {
    int count = text.length();
    if (count > BUFFER) {
      encoded(text);
      return;
    }
    require(count);
    int start = length;
    byte[] to = buffer;
    for (int i = 0; i < count; i++) {
      char c = text.charAt(i);
      if (c < ' ' || c > '~' || c == '"' || c == '\\') {
        encoded(text);
        return;
      }
      to[start + i] = (byte) c;
    }
    length = start + count;
  }

  /** What has to be escaped, or is not ASCII. */
  private void encoded(String text) throws IOException {
    // The escapes are ASCII, so all else is left to the encoding, which is given what has a form.
    byte[] bytes =
        new String(JsonStringEncoder.getInstance().quoteAsString(Text.requireWellFormed(text)))
            .getBytes(StandardCharsets.UTF_8);
    flush();
    out.write(bytes, 0, bytes.length);
  }

  private void require(int more) throws IOException {
    if (more > BUFFER - length) {
      flush();
    }
  }
}
