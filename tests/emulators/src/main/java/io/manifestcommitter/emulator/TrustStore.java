// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.KeyManager;

/** A file by which a JVM trusts an emulator's certificate, besides all that it trusts anyway. */
public final class TrustStore {
  private final Path file;
  private final String password;
  private final KeyManager[] serverKeys;

  TrustStore(Path file, String password, KeyManager[] serverKeys) {
    this.file = Objects.requireNonNull(file);
    this.password = Objects.requireNonNull(password);
    this.serverKeys = serverKeys.clone();
  }

  /** Of the certificate that is trusted, for one more server in this JVM. */
  public KeyManager[] serverKeys() {
    return serverKeys.clone();
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
