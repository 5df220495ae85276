// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import io.manifestcommitter.emulator.S3Emulator;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The REST API's simplest requests. Directories are the objects that stand for them. */
final class S3RawStore extends RawStore {
  private final S3Emulator emulator;

  S3RawStore(S3Emulator emulator) {
    super(emulator);
    this.emulator = emulator;
  }

  private String object(String path) {
    return "/"
        + emulator.root().getHost()
        + URLEncoder.encode(path, StandardCharsets.UTF_8).replace("%2F", "/");
  }

  @Override
  void write(String path, String content) throws IOException {
    request("PUT", object(path), content);
  }

  @Override
  byte[] bytes(String path) throws IOException {
    return request("GET", object(path), "");
  }

  @Override
  void delete(String path) throws IOException {
    if (path.endsWith("/")) {
      for (String entry : below(path)) {
        request("DELETE", object(path + entry), "");
      }
    }
    request("DELETE", object(path), "");
  }

  @Override
  List<String> uploads() {
    return emulator.uploads();
  }

  @Override
  List<String> uploadsWithoutParts() {
    return emulator.uploadsWithoutParts();
  }
}
