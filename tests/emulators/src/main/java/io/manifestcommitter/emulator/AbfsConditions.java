// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.Optional;

/** The conditions of a request on the etag of one path. */
final class AbfsConditions {
  private static final String ANY = "*";

  private final Optional<String> match;
  private final Optional<String> noneMatch;

  private AbfsConditions(Optional<String> match, Optional<String> noneMatch) {
    this.match = match;
    this.noneMatch = noneMatch;
  }

  /** {@code If-Match} and {@code If-None-Match}; of a rename, on its destination. */
  static AbfsConditions of(Call call) {
    return new AbfsConditions(
        call.header("If-Match").map(AbfsConditions::unquoted),
        call.header("If-None-Match").map(AbfsConditions::unquoted));
  }

  /** Those on the source of a rename. */
  static AbfsConditions ofSource(Call call) {
    return new AbfsConditions(
        call.header("x-ms-source-if-match").map(AbfsConditions::unquoted),
        call.header("x-ms-source-if-none-match").map(AbfsConditions::unquoted));
  }

  /** Whether nothing may exist there. */
  boolean ifMissing() {
    return noneMatch.isPresent() && noneMatch.get().equals(ANY);
  }

  /** Whether they hold of what is there. */
  boolean met(Optional<AbfsNode> node) {
    return match.map(etag -> matches(etag, node)).orElse(true)
        && !noneMatch.map(etag -> matches(etag, node)).orElse(false);
  }

  private static boolean matches(String etag, Optional<AbfsNode> node) {
    return node.isPresent() && (etag.equals(ANY) || etag.equals(node.get().etag()));
  }

  private static String unquoted(String etag) {
    return etag.replace("\"", "");
  }
}
