// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The idempotency tokens that Google's clients send with each try of one request. The service
 * answers a repeat with its first result, for some two minutes (observed; not documented). Safe for
 * many threads; two tries of one request do not come at once.
 */
final class GcsTokens {
  private static final String HEADER = "x-goog-gcs-idempotency-token";
  private static final int REMEMBERED = 10_000;

  private final Map<String, Reply> results =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Reply> eldest) {
              return size() > REMEMBERED;
            }
          });

  private volatile boolean forgets;

  /** From now on it remembers nothing, as the service after two minutes. */
  void forget() {
    forgets = true;
  }

  /**
   * The first result of a request, or a new one. An error is no result.
   *
   * @throws GcsException as the request does
   */
  Reply answer(Call call, Request request) throws GcsException {
    Optional<String> token = call.header(HEADER).filter(sent -> !forgets);
    if (token.isEmpty()) {
      return request.answer();
    }
    String key = token.get() + " " + call.method() + " " + call.rawPath();
    Reply first = results.get(key);
    if (first == null) {
      first = request.answer();
      results.put(key, first);
    }
    return first;
  }

  /** Does what a call asks for. */
  interface Request {
    Reply answer() throws GcsException;
  }
}
