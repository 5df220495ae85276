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
import java.util.Optional;
import java.util.Set;
import java.util.zip.GZIPInputStream;

/**
 * One HTTP request, read to its end.
 *
 * @param method as sent; a protocol applies {@code X-HTTP-Method-Override} itself
 * @param rawPath still percent-encoded, without the query
 * @param query decoded; a parameter without a value maps to ""
 * @param headers by lower-case name; the last one of several wins
 * @param body after any content encoding (gzip) was undone
 */
record Call(
    String method,
    String rawPath,
    Map<String, String> query,
    Map<String, String> headers,
    byte[] body) {
  /** A query parameter, decoded. */
  Optional<String> parameter(String name) {
    return Optional.ofNullable(query.get(name));
  }

  /** A header, by its name in any case. */
  Optional<String> header(String name) {
    return Optional.ofNullable(headers.get(name.toLowerCase(Locale.ROOT)));
  }

  /** The same without these parameters and headers, whose names are in lower case. */
  Call without(Set<String> names) {
    if (names.isEmpty()) {
      return this;
    }
    Map<String, String> heardQuery = new HashMap<>(query);
    heardQuery.keySet().removeIf(name -> names.contains(name.toLowerCase(Locale.ROOT)));
    Map<String, String> heardHeaders = new HashMap<>(headers);
    heardHeaders.keySet().removeIf(names::contains);
    return new Call(method, rawPath, heardQuery, heardHeaders, body);
  }

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
