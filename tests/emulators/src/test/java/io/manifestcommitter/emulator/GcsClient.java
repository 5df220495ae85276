// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Requests of the JSON API, sent as they are. */
final class GcsClient {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final HttpClient http = HttpClient.newHttpClient();
  private final String root;

  GcsClient(GcsEmulator emulator) {
    this.root = "http://127.0.0.1:" + emulator.port();
  }

  /** Path of an object below the root, its name encoded. */
  static String object(String name) {
    return "/storage/v1/b/emulated/o/" + encoded(name);
  }

  static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Sends a request; headers are names and values in turn. */
  Answer send(String method, String pathAndQuery, byte[] body, String... headers)
      throws IOException, InterruptedException {
    String uri = pathAndQuery.startsWith("http:") ? pathAndQuery : root + pathAndQuery;
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(uri)).method(method, BodyPublishers.ofByteArray(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return new Answer(http.send(request.build(), BodyHandlers.ofByteArray()));
  }

  Answer send(String method, String pathAndQuery) throws IOException, InterruptedException {
    return send(method, pathAndQuery, new byte[0]);
  }

  /** Makes an object of a text, in one request. */
  Answer insert(String name, String content, String query)
      throws IOException, InterruptedException {
    return send(
        "POST",
        "/upload/storage/v1/b/emulated/o?uploadType=media&name=" + encoded(name) + query,
        bytes(content),
        "Content-Type",
        "text/plain");
  }

  Answer insert(String name, String content) throws IOException, InterruptedException {
    return insert(name, content, "");
  }

  Answer move(String source, String destination, String query)
      throws IOException, InterruptedException {
    return send("POST", object(source) + "/moveTo/o/" + encoded(destination) + query);
  }

  Answer list(String query) throws IOException, InterruptedException {
    return send("GET", "/storage/v1/b/emulated/o" + query);
  }

  /** The content of an object, as text. */
  String content(String name) throws IOException, InterruptedException {
    Answer answer = send("GET", object(name) + "?alt=media");
    if (answer.status() != 200) {
      throw new IOException(name + ": " + answer.status());
    }
    return answer.text();
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** One response. */
  static final class Answer {
    private final HttpResponse<byte[]> response;

    Answer(HttpResponse<byte[]> response) {
      this.response = response;
    }

    int status() {
      return response.statusCode();
    }

    String header(String name) {
      return response.headers().firstValue(name).orElse("");
    }

    byte[] body() {
      return response.body();
    }

    String text() {
      return new String(response.body(), StandardCharsets.UTF_8);
    }

    JsonNode json() throws IOException {
      return MAPPER.readTree(response.body());
    }

    /** A field of the JSON; empty if it has none of the name. */
    String get(String field) throws IOException {
      return json().path(field).asText();
    }

    /** The reason that an error gives. */
    String reason() throws IOException {
      return json().path("error").path("errors").path(0).path("reason").asText();
    }

    List<String> names() throws IOException {
      List<String> names = new ArrayList<>();
      json().path("items").forEach(item -> names.add(item.path("name").asText()));
      return names;
    }

    List<String> prefixes() throws IOException {
      List<String> prefixes = new ArrayList<>();
      json().path("prefixes").forEach(prefix -> prefixes.add(prefix.asText()));
      return prefixes;
    }
  }
}
