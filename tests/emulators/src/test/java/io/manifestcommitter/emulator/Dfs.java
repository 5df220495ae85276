// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/** Requests of the DFS protocol as they are on the wire, below {@code /account/data}. */
final class Dfs {
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI base;

  Dfs(int port) {
    this.base = URI.create("http://127.0.0.1:" + port + "/account/data");
  }

  /** Sends a request. Headers: name, value, name, value. */
  HttpResponse<String> send(
      String method, String pathAndQuery, BodyPublisher body, String... headers)
      throws IOException, InterruptedException {
    return client.send(request(method, pathAndQuery, body, headers), BodyHandlers.ofString());
  }

  HttpResponse<String> send(String method, String pathAndQuery, String... headers)
      throws IOException, InterruptedException {
    return send(method, pathAndQuery, BodyPublishers.noBody(), headers);
  }

  CompletableFuture<HttpResponse<String>> start(String method, String pathAndQuery) {
    return client.sendAsync(
        request(method, pathAndQuery, BodyPublishers.noBody()), BodyHandlers.ofString());
  }

  HttpResponse<String> mkdirs(String path) throws IOException, InterruptedException {
    return send("PUT", path + "?resource=directory");
  }

  /** Makes a file with this content. */
  void write(String path, String content) throws IOException, InterruptedException {
    int length = content.getBytes(StandardCharsets.UTF_8).length;
    expect(201, send("PUT", path + "?resource=file"));
    BodyPublisher body = BodyPublishers.ofString(content);
    expect(202, send("PATCH", path + "?action=append&position=0", body));
    expect(200, send("PATCH", path + "?action=flush&position=" + length));
  }

  /** As hadoop-azure renames. */
  HttpResponse<String> rename(String source, String destination)
      throws IOException, InterruptedException {
    return send("PUT", destination, "x-ms-rename-source", "/data" + source, "If-None-Match", "*");
  }

  static String code(HttpResponse<?> response) {
    return response.headers().firstValue("x-ms-error-code").orElse("");
  }

  private static void expect(int status, HttpResponse<String> response) throws IOException {
    if (response.statusCode() != status) {
      throw new IOException(response + ": " + response.body());
    }
  }

  private HttpRequest request(
      String method, String pathAndQuery, BodyPublisher body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + pathAndQuery)).method(method, body);
    return (headers.length == 0 ? request : request.headers(headers)).build();
  }
}
