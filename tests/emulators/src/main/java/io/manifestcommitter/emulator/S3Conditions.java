// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.S3Bucket.S3Object;
import java.util.Arrays;
import java.util.Optional;

/** {@code If-Match} and {@code If-None-Match}, by etags; those by times are not known. */
record S3Conditions(Optional<String> match, Optional<String> noneMatch) {
  static final S3Conditions NONE = new S3Conditions(Optional.empty(), Optional.empty());

  static S3Conditions of(Call call) throws S3Exception {
    return of(call, "");
  }

  /** Of the source of a copy. */
  static S3Conditions ofSource(Call call) throws S3Exception {
    return of(call, "x-amz-copy-source-");
  }

  private static S3Conditions of(Call call, String prefix) throws S3Exception {
    for (String name : new String[] {"if-modified-since", "if-unmodified-since"}) {
      if (call.header(prefix + name).isPresent()) {
        throw S3Exception.unknown("conditions on times: " + prefix + name);
      }
    }
    return new S3Conditions(
        call.header(prefix + "if-match"), call.header(prefix + "if-none-match"));
  }

  /** Whether an object may be read: 412, or 304 where the reader has it. */
  void checkRead(S3Object live) throws S3Exception {
    if (match.isPresent() && !names(match.get(), live)) {
      throw S3Exception.conditionNotMet("If-Match");
    }
    if (noneMatch.isPresent() && names(noneMatch.get(), live)) {
      throw new S3Exception(304, "NotModified", "");
    }
  }

  /** Whether it may be copied: 412. */
  void checkCopy(S3Object live) throws S3Exception {
    if (match.isPresent() && !names(match.get(), live)) {
      throw S3Exception.conditionNotMet("x-amz-copy-source-If-Match");
    }
    if (noneMatch.isPresent() && names(noneMatch.get(), live)) {
      throw S3Exception.conditionNotMet("x-amz-copy-source-If-None-Match");
    }
  }

  /** Whether a key may get an object: 412; 404 where one is asked for and there is none. */
  void checkWrite(String key, Optional<S3Object> live) throws S3Exception {
    if (noneMatch.isPresent()) {
      if (!noneMatch.get().equals("*")) {
        throw S3Exception.unknown("a write with If-None-Match but with *");
      }
      if (live.isPresent()) {
        throw S3Exception.conditionNotMet("If-None-Match");
      }
    }
    if (match.isPresent()) {
      if (live.isEmpty()) {
        throw S3Exception.noKey(key);
      }
      if (!names(match.get(), live.get())) {
        throw S3Exception.conditionNotMet("If-Match");
      }
    }
  }

  private static boolean names(String etags, S3Object live) {
    return etags.equals("*")
        || Arrays.stream(etags.split(",", -1))
            .map(etag -> etag.trim().replace("\"", ""))
            .anyMatch(live.etag()::equals);
  }
}
