// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.security.SecureRandom;
import java.util.Arrays;

/**
 * Numbers file names, each within a directory, in the order in which they are added, in 44 bytes
 * each of a million. Of a name only its values as a polynomial at two points are kept, modulo the
 * prime 2^61 - 1. Each process draws the points, so nobody can choose names that collide. Two of a
 * hundred million names are taken for one with a probability below 10^-16. This is universal
 * hashing, by Carter and Wegman: two polynomials of degree d agree at no more than d of all points.
 *
 * <p>Names are added by one thread; then many may look for them.
 */
public final class NameIndex {
  private static final int SMALLEST = 64;

  /** No value is negative. */
  private static final long EMPTY = -1;

  private static final int LONGEST = (1 << 28) - 1;
  private static final long PRIME = (1L << 61) - 1;
  private static final long POINT = drawnPoint();
  private static final long OTHER_POINT = drawnPoint();

  /** Of each slot the values at both points, which are looked at together; or {@link #EMPTY}. */
  private long[] values = empty(SMALLEST);

  /** Of each slot that is not empty the number of its name. */
  private int[] numbers = new int[SMALLEST];

  private int count;

  public int count() {
    return count;
  }

  /**
   * Adds a name.
   *
   * @return whether it is new
   */
  public boolean add(int directory, String name) {
    if (count >= numbers.length / 2) {
      grow();
    }
    long one = value(POINT, directory, name);
    long other = value(OTHER_POINT, directory, name);
    int slot = slot(one, other);
    if (values[2 * slot] != EMPTY) {
      return false;
    }
    values[2 * slot] = one;
    values[2 * slot + 1] = other;
    numbers[slot] = count;
    count = Math.incrementExact(count);
    return true;
  }

  /** The number of a name, from 0; -1 if it was not added. */
  public int find(int directory, String name) {
    int slot = slot(value(POINT, directory, name), value(OTHER_POINT, directory, name));
    return values[2 * slot] == EMPTY ? -1 : numbers[slot];
  }

  /** Where a name of these values is, or would go. */
  private int slot(long one, long other) {
    int mask = numbers.length - 1;
    int slot = (int) one & mask;
    while (values[2 * slot] != EMPTY
        && (values[2 * slot] != one || values[2 * slot + 1] != other)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldValues = values;
    int[] oldNumbers = numbers;
    int length = Math.multiplyExact(oldNumbers.length, 2);
    values = empty(length);
    numbers = new int[length];
    for (int i = 0; i < oldNumbers.length; i++) {
      if (oldValues[2 * i] != EMPTY) {
        int slot = slot(oldValues[2 * i], oldValues[2 * i + 1]);
        values[2 * slot] = oldValues[2 * i];
        values[2 * slot + 1] = oldValues[2 * i + 1];
        numbers[slot] = oldNumbers[i];
      }
    }
  }

  private static long[] empty(int slots) {
    long[] empty = new long[Math.multiplyExact(slots, 2)];
    Arrays.fill(empty, EMPTY);
    return empty;
  }

  /**
   * The value of a name at a point. The coefficients are the directory with the length of the name,
   * so that no name is the beginning of another one, and then three characters at a time.
   */
  private static long value(long point, int directory, String name) {
    int length = name.length();
    long value = (Integer.toUnsignedLong(directory) << 28) | (length & LONGEST);
    for (int i = 0; i < length; i += 3) {
      long next = (long) name.charAt(i) << 32;
      next |= i + 1 < length ? (long) name.charAt(i + 1) << 16 : 0;
      next |= i + 2 < length ? name.charAt(i + 2) : 0;
      value = folded(product(value, point) + next);
    }
    return value >= PRIME ? value - PRIME : value;
  }

  /** Modulo the prime but for a few times it, of factors that were {@link #folded}; below 2^62. */
  private static long product(long a, long b) {
    long low = a * b;
    return (low & PRIME) + ((Math.multiplyHigh(a, b) << 3) | (low >>> 61));
  }

  /** The same modulo the prime, of a number below 2^63; below 2^61 + 4. */
  private static long folded(long number) {
    return (number & PRIME) + (number >>> 61);
  }

  private static long drawnPoint() {
    return Math.floorMod(new SecureRandom().nextLong(), PRIME);
  }
}
