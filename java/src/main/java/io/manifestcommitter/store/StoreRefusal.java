// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.util.Set;

/**
 * Recognises the answers with which a store asks for fewer requests: HTTP 429 (Too Many Requests)
 * and 503 (Service Unavailable; Azure's "server busy"), RFC 6585 and RFC 9110.
 */
final class StoreRefusal {
  private static final Set<Integer> STATUSES = Set.of(429, 503);

  private StoreRefusal() {}

  /** Whether a failure is, or was caused by, such an answer. */
  static boolean is(Throwable failure) {
    return HttpStatus.isAmong(STATUSES, failure);
  }
}
