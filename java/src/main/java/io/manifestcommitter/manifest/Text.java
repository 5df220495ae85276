// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

/** Text that can be written as UTF-8 and read back the same. */
final class Text {
  private static final int SHOWN = 600;

  private Text() {}

  /**
   * The text itself.
   *
   * @throws IllegalArgumentException if it has half a surrogate pair, which has no form in UTF-8
   */
  static String requireWellFormed(String text) {
    if (unpairedSurrogate(text, 0) >= 0) {
      throw new IllegalArgumentException(
          "'" + text + "' has half of a surrogate pair, which cannot be written as UTF-8");
    }
    return text;
  }

  /**
   * The text with every half of a surrogate pair replaced: for messages, which must not fail to be
   * written.
   */
  static String wellFormed(String text) {
    int bad = unpairedSurrogate(text, 0);
    if (bad < 0) {
      return text;
    }
    StringBuilder repaired = new StringBuilder(text);
    while (bad >= 0) {
      repaired.setCharAt(bad, '\uFFFD');
      bad = unpairedSurrogate(text, bad + 1);
    }
    return repaired.toString();
  }

  /** The beginning of a text: for messages about damaged files, whose texts may be endless. */
  static String shortened(String text) {
    return text.length() <= SHOWN ? text : wellFormed(text.substring(0, SHOWN)) + "...";
  }

  private static int unpairedSurrogate(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        boolean paired =
            Character.isHighSurrogate(c)
                && i + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(i + 1));
        if (!paired) {
          return i;
        }
        i++;
      }
    }
    return -1;
  }
}
