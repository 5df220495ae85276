// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Damages files at random, by a seed: bits that flip, parts that are cut off, lost, doubled or
 * overwritten, and what a parser may choke on, put in anywhere.
 *
 * <p>{@code -Dhostile.cases=10000} tries more than the default, {@code -Dhostile.seed=7} others, or
 * one alone with {@code -Dhostile.cases=1}.
 */
public final class Damage {
  private static final List<String> CHOKING =
      List.of(
          "[".repeat(100_000),
          "{\"a\":".repeat(50_000),
          "9".repeat(5000),
          "-1",
          "1e400",
          "null",
          "\"\\ud800\"",
          "\u0000",
          "../../",
          "%2e%2e/",
          "a".repeat(1_100_000));

  private final Random random;

  private Damage(long seed) {
    this.random = new Random(seed);
  }

  /** The seeds to try: some, from the first one on. */
  public static long[] seeds(int byDefault) {
    long first = Long.getLong("hostile.seed", 1);
    long[] seeds = new long[Integer.getInteger("hostile.cases", byDefault)];
    Arrays.setAll(seeds, i -> first + i);
    return seeds;
  }

  /** A copy of some content, damaged as the seed says. */
  public static byte[] of(byte[] content, long seed) {
    return new Damage(seed).damaged(content);
  }

  private byte[] damaged(byte[] content) {
    byte[] damaged = content.clone();
    for (int times = 1 + random.nextInt(3); times > 0; times--) {
      damaged = once(damaged);
    }
    return damaged;
  }

  private byte[] once(byte[] content) {
    if (content.length < 2) {
      return noise(random.nextInt(64));
    }
    int from = random.nextInt(content.length);
    int to = from + random.nextInt(Math.min(64, content.length - from)) + 1;
    byte[] start = Arrays.copyOf(content, from);
    byte[] part = Arrays.copyOfRange(content, from, to);
    byte[] end = Arrays.copyOfRange(content, to, content.length);
    return switch (random.nextInt(8)) {
      case 0 -> start;
      case 1 -> joined(start, end);
      case 2 -> joined(start, part, part, end);
      case 3 -> joined(start, noise(part.length), end);
      case 4 -> joined(start, choking(), end);
      case 5 -> joined(start, choking(), part, end);
      case 6 -> joined(content, noise(random.nextInt(64)));
      default -> {
        byte[] flipped = content.clone();
        flipped[from] ^= (byte) (1 << random.nextInt(8));
        yield flipped;
      }
    };
  }

  private byte[] choking() {
    return CHOKING.get(random.nextInt(CHOKING.size())).getBytes(StandardCharsets.UTF_8);
  }

  private byte[] noise(int length) {
    byte[] noise = new byte[length];
    random.nextBytes(noise);
    return noise;
  }

  private static byte[] joined(byte[]... parts) {
    byte[] all = new byte[Arrays.stream(parts).mapToInt(part -> part.length).sum()];
    int at = 0;
    for (byte[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return all;
  }
}
