// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.security.SecureRandom;

/**
 * Numbers file names, each within a directory, in the order in which they are added, in about 40
 * bytes each. Of a name only its values as a polynomial at two points are kept, modulo the prime
 * 2^61 - 1. Each process draws the points, so nobody can choose names that collide: two of a
 * hundred million names are taken for one with a probability below 10^-16 (universal hashing, by
 * Carter and Wegman: two polynomials of degree d agree at no more than d of all points).
 *
 * <p>Names are added by one thread; then many may look for them.
 */
public final class NameIndex {
  private static final int SMALLEST = 64;
  private static final int LONGEST = (1 << 28) - 1;
  private static final long PRIME = (1L << 61) - 1;
  private static final long POINT = drawnPoint();
  private static final long OTHER_POINT = drawnPoint();

  private long[] values = new long[SMALLEST];
  private long[] otherValues = new long[SMALLEST];

  /** The number of the name, and one; 0 where there is none. */
  private int[] numbers = new int[SMALLEST];

  private int count;

  /** How many names there are. */
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
    long value = valueAt(POINT, directory, name);
    long otherValue = valueAt(OTHER_POINT, directory, name);
    int slot = slot(value, otherValue);
    if (numbers[slot] != 0) {
      return false;
    }
    values[slot] = value;
    otherValues[slot] = otherValue;
    numbers[slot] = Math.incrementExact(count++);
    return true;
  }

  /** The number of a name, from 0; -1 if it was not added. */
  public int find(int directory, String name) {
    return numbers[slot(valueAt(POINT, directory, name), valueAt(OTHER_POINT, directory, name))]
        - 1;
  }

  /** Where a name of these values is, or would go. */
  private int slot(long value, long otherValue) {
    int mask = numbers.length - 1;
    int slot = (int) value & mask;
    while (numbers[slot] != 0 && (values[slot] != value || otherValues[slot] != otherValue)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldValues = values;
    long[] oldOtherValues = otherValues;
    int[] oldNumbers = numbers;
    int length = Math.multiplyExact(oldNumbers.length, 2);
    values = new long[length];
    otherValues = new long[length];
    numbers = new int[length];
    for (int i = 0; i < oldNumbers.length; i++) {
      if (oldNumbers[i] != 0) {
        int slot = slot(oldValues[i], oldOtherValues[i]);
        values[slot] = oldValues[i];
        otherValues[slot] = oldOtherValues[i];
        numbers[slot] = oldNumbers[i];
      }
    }
  }

  /**
   * The value at a point. The coefficients are the directory with the length of the name, so that
   * no name is the beginning of another one, and then three characters at a time.
   */
  private static long valueAt(long point, int directory, String name) {
    int length = name.length();
    long value = (Integer.toUnsignedLong(directory) << 28) | (length & LONGEST);
    for (int i = 0; i < length; i += 3) {
      long next = (long) name.charAt(i) << 32;
      if (i + 1 < length) {
        next |= (long) name.charAt(i + 1) << 16;
      }
      if (i + 2 < length) {
        next |= name.charAt(i + 2);
      }
      value = reduced(product(value, point) + next);
    }
    return value;
  }

  /** Modulo the prime, of factors below it. */
  private static long product(long a, long b) {
    long low = a * b;
    return reduced((low & PRIME) + ((Math.multiplyHigh(a, b) << 3) | (low >>> 61)));
  }

  /** Modulo the prime, of a number below twice that. */
  private static long reduced(long number) {
    return number >= PRIME ? number - PRIME : number;
  }

  private static long drawnPoint() {
    long drawn;
    do {
      drawn = new SecureRandom().nextLong() >>> 3;
    } while (drawn >= PRIME);
    return drawn;
  }
}
