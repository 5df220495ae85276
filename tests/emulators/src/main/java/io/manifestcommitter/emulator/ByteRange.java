// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The part of an object that the header {@code Range} asks for.
 *
 * @param from the first byte
 * @param to the byte after the last
 */
record ByteRange(int from, int to, boolean partial) {
  private static final Pattern BYTES = Pattern.compile("bytes=(\\d*)-(\\d*)");

  /**
   * The range of a request; all of it where none is given, or one of a form that is not served.
   *
   * @return empty if nothing of the object is in it: 416
   */
  static Optional<ByteRange> of(Optional<String> header, int length) {
    Matcher range = BYTES.matcher(header.orElse("").trim());
    if (!range.matches() || (range.group(1).isEmpty() && range.group(2).isEmpty())) {
      return Optional.of(new ByteRange(0, length, false));
    }
    try {
      long from;
      long to = length;
      if (range.group(1).isEmpty()) {
        from = Math.max(0, length - Long.parseLong(range.group(2)));
      } else {
        from = Long.parseLong(range.group(1));
        if (!range.group(2).isEmpty()) {
          to = Math.min(length, Math.addExact(Long.parseLong(range.group(2)), 1));
        }
      }
      return from < to ? Optional.of(new ByteRange((int) from, (int) to, true)) : Optional.empty();
    } catch (ArithmeticException | NumberFormatException e) {
      return Optional.empty();
    }
  }

  boolean isPartial() {
    return partial;
  }

  /** The header {@code Content-Range} of the answer. */
  String header(int length) {
    return String.format("bytes %d-%d/%d", from, to - 1, length);
  }
}
