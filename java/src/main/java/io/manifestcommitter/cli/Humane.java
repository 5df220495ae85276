// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import io.manifestcommitter.config.CommitterConfig;
import java.util.Locale;
import java.util.regex.Pattern;

/** Numbers and names as people read them. */
public final class Humane {
  /** Control, format, line and paragraph separators, and halves of characters. */
  private static final Pattern UNPRINTABLE =
      Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}]");

  private static final String[] UNITS = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

  private Humane() {}

  /** A number with its thousands set apart. */
  public static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** A number of things: {@code 1 file}, {@code 2 files}. */
  public static String count(long number, String thing) {
    return number(number) + " " + thing + (number == 1 ? "" : "s");
  }

  /** A number of bytes, from a KiB on with the exact one in brackets. */
  public static String bytes(long bytes) {
    if (bytes < 1024) {
      return count(bytes, "byte");
    }
    return size(bytes) + " (" + count(bytes, "byte") + ")";
  }

  /** A number of bytes in three or four digits. */
  public static String size(long bytes) {
    if (bytes < 1024) {
      return bytes + " bytes";
    }
    double value = bytes;
    int unit = -1;
    while (value >= 1023.95 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %s", value, UNITS[unit]);
  }

  /** A duration in milliseconds. */
  public static String millis(long millis) {
    if (millis < 1000) {
      return millis + " ms";
    }
    if (millis < 59_950) {
      return String.format(Locale.ROOT, "%.1f s", millis / 1e3);
    }
    long seconds = Math.round(millis / 1e3);
    if (seconds < 3600) {
      return seconds / 60 + " min " + seconds % 60 + " s";
    }
    return number(seconds / 3600) + " h " + seconds % 3600 / 60 + " min";
  }

  /**
   * A name on one line. Names come from the store: one with control characters in it must not break
   * the line or command the terminal.
   */
  public static String line(String name) {
    return UNPRINTABLE
        .matcher(name)
        .replaceAll(
            found -> {
              int c = found.group().codePointAt(0);
              String code = String.format(Locale.ROOT, "u%04x", c);
              return "\\\\" + (c == '\n' ? "n" : c == '\t' ? "t" : code);
            });
  }

  /** Why a program takes a while. */
  static String watching(String table, int jobs, CommitterConfig config) {
    return line(table)
        + ": watching "
        + count(jobs, "job")
        + " for "
        + millis(config.heartbeatTimeout)
        + ", to see whether a driver is alive (--force skips this)";
  }
}
