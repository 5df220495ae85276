// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The resumable uploads under way, and those that ended lately: a client that lost the last answer
 * asks again. The service forgets a session after a week, this after many newer ones.
 */
final class GcsSessions {
  private static final int MOST = 20_000;

  private final Map<String, GcsSession> sessions =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, GcsSession> eldest) {
          return size() > MOST;
        }
      };

  /** Opens a session, and returns its id. */
  synchronized String open(GcsSession session) {
    String id = UUID.randomUUID().toString();
    sessions.put(id, session);
    return id;
  }

  synchronized Optional<GcsSession> find(String id) {
    return Optional.ofNullable(sessions.get(id));
  }

  synchronized Optional<GcsSession> cancel(String id) {
    return Optional.ofNullable(sessions.remove(id));
  }
}
