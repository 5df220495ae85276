// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/** A file by which a JVM trusts an emulator's certificate, besides all that it trusts anyway. */
public final class TrustStore {
  private final Path file;
  private final String password;

  TrustStore(Path file, String password) {
    this.file = Objects.requireNonNull(file);
    this.password = Objects.requireNonNull(password);
  }

  /** PKCS12. Removed when the JVM of the emulator ends. */
  public Path file() {
    return file;
  }

  /** Not secret. */
  public String password() {
    return password;
  }

  /** System properties that make a JVM use it, when given to it at its start. */
  public Map<String, String> systemProperties() {
    return Map.of(
        "javax.net.ssl.trustStore",
        file.toString(),
        "javax.net.ssl.trustStorePassword",
        password,
        "javax.net.ssl.trustStoreType",
        SelfSigned.STORE_TYPE);
  }
}
