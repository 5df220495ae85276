// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.Comparator;

/** The order in which the service lists names: that of their UTF-8 bytes, so of code points. */
final class BucketOrder implements Comparator<String> {
  @Override
  public int compare(String left, String right) {
    int shorter = Math.min(left.length(), right.length());
    for (int i = 0; i < shorter; i++) {
      char l = left.charAt(i);
      char r = right.charAt(i);
      if (l != r) {
        return Integer.compare(rank(l), rank(r));
      }
    }
    return Integer.compare(left.length(), right.length());
  }

  /** Surrogates stand for code points above all others, but are not the highest chars. */
  private static int rank(char c) {
    return Character.isSurrogate(c) ? c + 0x10000 : c;
  }
}
