// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** Times as the stores write them. */
final class HttpTimes {
  private static final DateTimeFormatter RFC1123 =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
          .withZone(ZoneOffset.UTC);

  private HttpTimes() {}

  /** RFC 1123, in seconds, as headers have it. */
  static String header(Instant instant) {
    return RFC1123.format(instant);
  }

  /** RFC 3339, in milliseconds, as bodies have it. */
  static String body(Instant instant) {
    return DateTimeFormatter.ISO_INSTANT.format(instant.truncatedTo(ChronoUnit.MILLIS));
  }
}
