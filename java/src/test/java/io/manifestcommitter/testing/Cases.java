// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * Which cases of a big test are run: all of them, a sample by a seed, or those that an expression
 * names. A case is named by a path of steps, "abfs/auto/marker/static/rename-17-after/finish".
 */
public final class Cases {
  private static final int ALL = 1_000_000;

  private final String test;
  private final boolean isFull;
  private final long seed;
  private final Pattern only;

  private Cases(String test, boolean isFull, long seed, String only) {
    this.test = test;
    this.isFull = isFull;
    this.seed = seed;
    this.only = only.isEmpty() ? null : Pattern.compile(only);
  }

  /** As the properties {@code mode}, {@code seed} and {@code only} of a test say. */
  public static Cases fromProperties(String test) {
    String mode = System.getProperty(test + ".mode", "sample");
    if (!mode.equals("sample") && !mode.equals("full")) {
      throw new IllegalArgumentException(test + ".mode is sample or full, and not " + mode);
    }
    return new Cases(
        test,
        mode.equals("full"),
        Long.getLong(test + ".seed", 1),
        System.getProperty(test + ".only", ""));
  }

  /** Whether all are run. */
  public boolean isFull() {
    return isFull;
  }

  /** Whether a sample is drawn. */
  public boolean isSample() {
    return !isFull && only == null;
  }

  /** Whether cases are named, so that there may be few. */
  public boolean isNamed() {
    return only != null;
  }

  /**
   * Whether to go on with a step, of which a sample takes one in {@code oneIn}.
   *
   * @param steps the steps so far, where more will follow
   */
  public boolean begins(String steps, int oneIn) {
    if (only != null) {
      Matcher matcher = only.matcher(steps + "/");
      return matcher.matches() || matcher.hitEnd() || only.matcher(steps).matches();
    }
    return isFull || isDrawn(steps, oneIn);
  }

  /** Whether to run a case, of which a sample takes one in {@code oneIn}. */
  public boolean runs(String steps, int oneIn) {
    return only != null ? only.matcher(steps).matches() : isFull || isDrawn(steps, oneIn);
  }

  private boolean isDrawn(String steps, int oneIn) {
    CRC32 draw = new CRC32();
    draw.update((seed + " " + steps).getBytes(StandardCharsets.UTF_8));
    return draw.getValue() % ALL < ALL / oneIn;
  }

  /** What a sample is drawn with. */
  public long seed() {
    return seed;
  }

  /** How to repeat a case alone. */
  public String repeat(String steps) {
    return "-D" + test + ".only='" + steps + "'" + (isFull ? "" : " (seed " + seed + ")");
  }

  @Override
  public String toString() {
    return only != null ? "only " + only : isFull ? "full" : "a sample, seed " + seed;
  }
}
