// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** One HTTP response. */
final class Reply {
  private static final byte[] EMPTY = new byte[0];

  private final int status;
  private final Map<String, String> headers = new LinkedHashMap<>();
  private byte[] body = EMPTY;

  Reply(int status) {
    this.status = status;
  }

  /** Adds a header; to a HEAD request {@code Content-Length} may be given without a body. */
  Reply header(String name, String value) {
    headers.put(name, value);
    return this;
  }

  Reply body(String contentType, byte[] content) {
    headers.put("Content-Type", contentType);
    body = content;
    return this;
  }

  int status() {
    return status;
  }

  Map<String, String> headers() {
    return Collections.unmodifiableMap(headers);
  }

  byte[] body() {
    return body;
  }
}
