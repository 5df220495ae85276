// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import io.manifestcommitter.emulator.GcsEmulator;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** The JSON protocol's simplest requests. Directories are the objects that stand for them. */
final class GcsRawStore extends RawStore {
  private final String bucket;
  private final boolean hasFolders;

  GcsRawStore(GcsEmulator emulator) {
    super(emulator);
    this.bucket = "/storage/v1/b/" + emulator.root().getHost();
    this.hasFolders = emulator.root().equals(emulator.hierarchicalRoot());
  }

  private String object(String path) {
    return bucket + "/o/" + name(path);
  }

  @Override
  void write(String path, String content) throws IOException {
    request("POST", "/upload" + bucket + "/o?uploadType=media&name=" + name(path), content);
  }

  @Override
  byte[] bytes(String path) throws IOException {
    return request("GET", object(path) + "?alt=media", "");
  }

  @Override
  void delete(String path) throws IOException {
    if (!path.endsWith("/")) {
      request("DELETE", object(path), "");
      return;
    }
    for (String entry : below(path).descendingSet()) {
      deleteOne(path + entry);
    }
    if (hasFolders) {
      deleteOne(path);
    }
  }

  /** A folder may have an object that stands for it, beside it. */
  private void deleteOne(String path) throws IOException {
    if (!hasFolders || !path.endsWith("/")) {
      request("DELETE", object(path), "");
      return;
    }
    try {
      request("DELETE", object(path), "");
    } catch (IOException e) {
      // It had none; whether it is gone is seen at the folder.
    }
    request("DELETE", bucket + "/folders/" + name(path), "");
  }

  private static String name(String path) {
    return URLEncoder.encode(path.substring(1), StandardCharsets.UTF_8);
  }
}
