// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.S3Body.S3Hashes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.UUID;

/**
 * The addresses that are given for objects. A signed one ends in a comma and a signature over
 * repository, branch and path, and may be linked for a day. Whether its branch is there, or is
 * still the same, is no part of it.
 */
final class LakefsAddresses {
  private static final Duration MAY_BE_LINKED_FOR = Duration.ofHours(24);

  private final String secret = UUID.randomUUID().toString();
  private final InstantSource clock;

  LakefsAddresses(InstantSource clock) {
    this.clock = clock;
  }

  /** A new address below the namespace, which says when it was made. */
  String unsigned(LakefsRepository repository) {
    String made = String.format("%011x", clock.millis());
    return repository.namespace()
        + "data/g"
        + made.substring(0, 4)
        + "/"
        + made
        + UUID.randomUUID();
  }

  /** A new address for the path and branch that a request names. */
  String signed(LakefsRequest asked) throws LakefsException {
    String address = unsigned(asked.repository());
    return address + "," + signature(asked, address);
  }

  /**
   * Refuses an address that was not given for this path, or too long ago. Outside of the namespace
   * any will do.
   */
  void check(String address, LakefsRequest asked) throws LakefsException {
    if (!address.startsWith(asked.repository().namespace())) {
      return;
    }
    int comma = address.lastIndexOf(',');
    if (comma < 0) {
      throw LakefsException.invalid("address is not signed: link address invalid");
    }
    String signed = address.substring(0, comma);
    if (!address.endsWith("," + signature(asked, signed))) {
      throw LakefsException.invalid("invalid address signature: invalid address");
    }
    String made = signed.substring(signed.lastIndexOf('/') + 1).substring(0, 11);
    Instant until = Instant.ofEpochMilli(Long.parseLong(made, 16)).plus(MAY_BE_LINKED_FOR);
    if (clock.instant().isAfter(until)) {
      throw LakefsException.invalid("link address expired");
    }
  }

  private String signature(LakefsRequest asked, String address) throws LakefsException {
    String name = asked.repository().name();
    String all = String.join("\0", secret, name, asked.ref(), asked.path(), address);
    byte[] hash = S3Hashes.sha256(all.getBytes(StandardCharsets.UTF_8));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
  }
}
