// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import io.manifestcommitter.emulator.Emulator;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What an emulator holds, seen and changed past the committer and past the connector, whose faults
 * are under test. Paths begin with a slash and end with one if they are directories.
 */
abstract class RawStore {
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final Emulator emulator;

  RawStore(Emulator emulator) {
    this.emulator = emulator;
  }

  /** Writes a file, and makes its parents where the store has any. */
  abstract void write(String path, String content) throws IOException;

  /** The content of a file. */
  abstract byte[] bytes(String path) throws IOException;

  /** Deletes a file, or a directory with all that is in it. */
  abstract void delete(String path) throws IOException;

  /** The keys of uploads that wait to be completed, where the store has such. */
  List<String> uploads() {
    return List.of();
  }

  /** Of these, the ones to which nothing was sent. */
  List<String> uploadsWithoutParts() {
    return List.of();
  }

  /** The content of a file of text. */
  final String read(String path) throws IOException {
    return new String(bytes(path), StandardCharsets.UTF_8);
  }

  /** The files below a directory, relative to it, with their content. */
  final NavigableMap<String, String> files(String directory) throws IOException {
    NavigableMap<String, String> files = new TreeMap<>();
    for (String path : below(directory)) {
      if (!path.endsWith("/")) {
        files.put(path, read(directory + path));
      }
    }
    return files;
  }

  /** All that is below a directory, relative to it. */
  final NavigableSet<String> below(String directory) {
    NavigableSet<String> below = new TreeSet<>();
    for (String path : emulator.tree().keySet()) {
      if (path.startsWith(directory) && path.length() > directory.length()) {
        below.add(path.substring(directory.length()));
      }
    }
    return below;
  }

  /** Makes a request; anything but a success is an error of the test's own making. */
  final byte[] request(String method, String pathAndQuery, String body) throws IOException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + emulator.port() + pathAndQuery))
            .method(method, HttpRequest.BodyPublishers.ofString(body, StandardCharsets.UTF_8))
            .build();
    HttpResponse<byte[]> response;
    try {
      response = CLIENT.send(request, HttpResponse.BodyHandlers.ofByteArray());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(method + " " + pathAndQuery);
    }
    if (response.statusCode() >= 300) {
      throw new IOException(method + " " + pathAndQuery + ": " + response.statusCode());
    }
    return response.body();
  }
}
