package io.manifestcommitter.store;

import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Recognises the answers with which a store asks for fewer requests: HTTP 429 (Too Many Requests)
 * and 503 (Service Unavailable; Azure's "server busy"), RFC 6585 and RFC 9110.
 *
 * <p>Connectors wrap them in exceptions of their own, partly under relocated names, so the status
 * is asked for by the method that all of them have, {@code int getStatusCode()}: {@code
 * AbfsRestOperationException} in hadoop-azure, {@code HttpResponseException} in Google's client.
 */
final class StoreRefusal {
  private static final Set<Integer> STATUSES = Set.of(429, 503);

  private StoreRefusal() {}

  /**
   * Whether a failure is, or was caused by, such an answer. Google's connector puts the failures of
   * requests that it makes side by side into an exception as suppressed ones.
   */
  static boolean is(Throwable failure) {
    return is(failure, Collections.newSetFromMap(new IdentityHashMap<>()));
  }

  private static boolean is(Throwable failure, Set<Throwable> seen) {
    if (failure == null || !seen.add(failure)) {
      return false;
    }
    return STATUSES.contains(statusCode(failure))
        || is(failure.getCause(), seen)
        || Arrays.stream(failure.getSuppressed()).anyMatch(suppressed -> is(suppressed, seen));
  }

  private static int statusCode(Throwable failure) {
    try {
      Object status = failure.getClass().getMethod("getStatusCode").invoke(failure);
      return status instanceof Integer ? (Integer) status : 0;
    } catch (ReflectiveOperationException e) {
      return 0;
    }
  }
}
