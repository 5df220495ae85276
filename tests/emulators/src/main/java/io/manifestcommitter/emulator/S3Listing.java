// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.Optional;

/** A page of keys as ListObjectsV2 is asked for it. */
final class S3Listing extends BucketListing {
  /** Whatever is asked for. */
  private static final int MOST = 1000;

  private final int limit;

  private S3Listing(Call call, int limit) throws S3Exception {
    super(
        call.parameter("prefix").orElse(""),
        call.parameter("delimiter").orElse(""),
        // The first key behind it.
        call.parameter("start-after")
            .filter(key -> !key.isEmpty())
            .map(key -> key + '\0')
            .orElse(""),
        limit,
        after(call));
    this.limit = limit;
  }

  static S3Listing of(Call call) throws S3Exception {
    if (call.parameter("list-type").filter("2"::equals).isEmpty()) {
      throw S3Exception.unknown("listings but those with list-type=2");
    }
    return new S3Listing(call, limit(call, "max-keys"));
  }

  /** How many entries a page has at most. */
  int limit() {
    return limit;
  }

  /** What a parameter says, but never more than the service gives. */
  static int limit(Call call, String parameter) throws S3Exception {
    String value = call.parameter(parameter).orElse("1000");
    if (!value.matches("[1-9]\\d{0,8}")) {
      throw S3Exception.invalid(parameter + " is no number above 0 here: " + value);
    }
    return Math.min(Integer.parseInt(value), MOST);
  }

  private static Optional<String> after(Call call) throws S3Exception {
    try {
      return after(call.parameter("continuation-token").orElse(""));
    } catch (IllegalArgumentException e) {
      throw S3Exception.invalid("The continuation token provided is incorrect: " + e.getMessage());
    }
  }
}
