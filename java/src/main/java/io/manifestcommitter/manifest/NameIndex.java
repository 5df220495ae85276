package io.manifestcommitter.manifest;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Numbers file names, each within a directory, in the order in which they are added, in about 40
 * bytes each: of a name only 128 bits of its SHA-256 are kept, so that two of a hundred million
 * names are taken for one with a probability below 10^-22.
 *
 * <p>Names are added by one thread; then many may look for them.
 */
public final class NameIndex {
  private static final int SMALLEST = 64;
  private static final ThreadLocal<MessageDigest> DIGESTS =
      ThreadLocal.withInitial(NameIndex::sha256);

  private long[] high = new long[SMALLEST];
  private long[] low = new long[SMALLEST];

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
    ByteBuffer hash = hash(directory, name);
    int slot = slot(hash.getLong(0), hash.getLong(8));
    if (numbers[slot] != 0) {
      return false;
    }
    high[slot] = hash.getLong(0);
    low[slot] = hash.getLong(8);
    numbers[slot] = Math.incrementExact(count++);
    return true;
  }

  /** The number of a name, from 0; -1 if it was not added. */
  public int find(int directory, String name) {
    ByteBuffer hash = hash(directory, name);
    return numbers[slot(hash.getLong(0), hash.getLong(8))] - 1;
  }

  /** Where a hash is, or would go. */
  private int slot(long first, long second) {
    int mask = numbers.length - 1;
    int slot = (int) first & mask;
    while (numbers[slot] != 0 && (high[slot] != first || low[slot] != second)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldHigh = high;
    long[] oldLow = low;
    int[] oldNumbers = numbers;
    int length = Math.multiplyExact(oldNumbers.length, 2);
    high = new long[length];
    low = new long[length];
    numbers = new int[length];
    for (int i = 0; i < oldNumbers.length; i++) {
      if (oldNumbers[i] != 0) {
        int slot = slot(oldHigh[i], oldLow[i]);
        high[slot] = oldHigh[i];
        low[slot] = oldLow[i];
        numbers[slot] = oldNumbers[i];
      }
    }
  }

  private static ByteBuffer hash(int directory, String name) {
    MessageDigest digest = DIGESTS.get();
    digest.update((byte) (directory >> 24));
    digest.update((byte) (directory >> 16));
    digest.update((byte) (directory >> 8));
    digest.update((byte) directory);
    return ByteBuffer.wrap(digest.digest(name.getBytes(StandardCharsets.UTF_8)));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java has SHA-256", e);
    }
  }
}
