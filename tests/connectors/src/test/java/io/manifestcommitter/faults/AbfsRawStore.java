// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import io.manifestcommitter.emulator.AbfsEmulator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The DFS protocol's simplest requests. */
final class AbfsRawStore extends RawStore {
  private static final String FILESYSTEM = "/emulated/data";

  AbfsRawStore(AbfsEmulator emulator) {
    super(emulator);
  }

  @Override
  void write(String path, String content) throws IOException {
    int length = content.getBytes(StandardCharsets.UTF_8).length;
    request("PUT", FILESYSTEM + path + "?resource=file", "");
    request("PATCH", FILESYSTEM + path + "?action=append&position=0", content);
    request("PATCH", FILESYSTEM + path + "?action=flush&position=" + length, "");
  }

  @Override
  byte[] bytes(String path) throws IOException {
    return request("GET", FILESYSTEM + path, "");
  }

  @Override
  void delete(String path) throws IOException {
    request("DELETE", FILESYSTEM + path + "?recursive=true", "");
  }
}
