// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.sun.net.httpserver.HttpExchange;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/** Reads requests. */
final class Calls {
  private Calls() {}

  /**
   * Reads a request to its end, also one that a fault will drop: a client sends all of it first.
   */
  static Call read(HttpExchange exchange) throws IOException {
    Map<String, String> headers = new HashMap<>();
    for (Map.Entry<String, List<String>> header : exchange.getRequestHeaders().entrySet()) {
      List<String> values = header.getValue();
      headers.put(header.getKey().toLowerCase(Locale.ROOT), values.get(values.size() - 1));
    }
    byte[] body = exchange.getRequestBody().readAllBytes();
    if (body.length > 0 && "gzip".equalsIgnoreCase(headers.get("content-encoding"))) {
      body = new GZIPInputStream(new ByteArrayInputStream(body)).readAllBytes();
    }
    return new Call(
        exchange.getRequestMethod(),
        exchange.getRequestURI().getRawPath(),
        query(exchange.getRequestURI().getRawQuery()),
        headers,
        body);
  }

  private static Map<String, String> query(String raw) {
    Map<String, String> parameters = new HashMap<>();
    if (raw != null && !raw.isEmpty()) {
      for (String parameter : raw.split("&", -1)) {
        int equals = parameter.indexOf('=');
        if (equals < 0) {
          parameters.put(decodeQuery(parameter), "");
        } else {
          parameters.put(
              decodeQuery(parameter.substring(0, equals)),
              decodeQuery(parameter.substring(equals + 1)));
        }
      }
    }
    return parameters;
  }

  private static String decodeQuery(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }

  /** Percent-decodes a path: unlike in a query, a plus sign there is one. */
  static String decodePath(String rawPath) {
    return URLDecoder.decode(rawPath.replace("+", "%2B"), StandardCharsets.UTF_8);
  }
}
