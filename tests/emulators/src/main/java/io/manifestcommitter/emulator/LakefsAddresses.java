// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.S3Body.S3Hashes;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
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
  private final Clock clock;

  LakefsAddresses(Clock clock) {
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

  String signed(LakefsRepository repository, String branch, String path) {
    String address = unsigned(repository);
    return address + "," + signature(repository, branch, path, address);
  }

  /**
   * Refuses an address that was not given for this path, or too long ago. Outside of the namespace
   * any will do.
   */
  void check(String address, LakefsRepository repository, String branch, String path)
      throws LakefsException {
    if (!address.startsWith(repository.namespace())) {
      return;
    }
    int comma = address.lastIndexOf(',');
    if (comma < 0) {
      throw LakefsException.invalid("address is not signed: link address invalid");
    }
    String signed = address.substring(0, comma);
    if (!address.endsWith("," + signature(repository, branch, path, signed))) {
      throw LakefsException.invalid("invalid address signature: invalid address");
    }
    String made = signed.substring(signed.lastIndexOf('/') + 1).substring(0, 11);
    Instant until = Instant.ofEpochMilli(Long.parseLong(made, 16)).plus(MAY_BE_LINKED_FOR);
    if (clock.instant().isAfter(until)) {
      throw LakefsException.invalid("link address expired");
    }
  }

  private String signature(
      LakefsRepository repository, String branch, String path, String address) {
    String all = String.join("\0", secret, repository.name(), branch, path, address);
    byte[] hash = S3Hashes.sha256(all.getBytes(StandardCharsets.UTF_8));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(hash, 32));
  }
}
