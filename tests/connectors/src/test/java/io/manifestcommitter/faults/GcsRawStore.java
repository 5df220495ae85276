package io.manifestcommitter.faults;

import io.manifestcommitter.emulator.GcsEmulator;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** The JSON protocol's simplest requests. Directories are the objects that stand for them. */
final class GcsRawStore extends RawStore {
  private static final String OBJECTS = "/storage/v1/b/emulated/o";

  GcsRawStore(GcsEmulator emulator) {
    super(emulator);
  }

  @Override
  void write(String path, String content) throws IOException {
    request("POST", "/upload" + OBJECTS + "?uploadType=media&name=" + name(path), content);
  }

  @Override
  byte[] bytes(String path) throws IOException {
    return request("GET", OBJECTS + "/" + name(path) + "?alt=media", "");
  }

  @Override
  void delete(String path) throws IOException {
    if (!path.endsWith("/")) {
      request("DELETE", OBJECTS + "/" + name(path), "");
      return;
    }
    for (String entry : below(path)) {
      request("DELETE", OBJECTS + "/" + name(path + entry), "");
    }
  }

  private static String name(String path) {
    return URLEncoder.encode(path.substring(1), StandardCharsets.UTF_8);
  }
}
