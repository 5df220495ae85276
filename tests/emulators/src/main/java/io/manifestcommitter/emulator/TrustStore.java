// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * A certificate for 127.0.0.1 that the JDK's keytool makes, in a temporary directory, and a file by
 * which a JVM trusts it besides all that it trusts anyway. There is one for each JVM, removed when
 * that ends: a client in the same JVM reads its trust store only once, and must be able to trust
 * the next emulator too.
 */
public record TrustStore(SSLContext context, Path file) {
  private static final String STORE_TYPE = "PKCS12";

  // The key is made at every start and serves nobody but tests.
  private static final String PASSWORD = "emulator";
  private static final String ALIAS = "emulator";

  private static Optional<TrustStore> ofThisJvm = Optional.empty();

  /**
   * Makes a key, its certificate and a trust store, the first time.
   *
   * @throws IOException where keytool cannot be run, with what it said
   */
  static synchronized TrustStore ofThisJvm() throws IOException {
    if (ofThisJvm.isEmpty()) {
      ofThisJvm = Optional.of(create());
    }
    return ofThisJvm.get();
  }

  private static TrustStore create() throws IOException {
    Path directory = Files.createTempDirectory("emulator-tls");
    Path keys = directory.resolve("keys.p12");
    Path trusted = directory.resolve("trusted.p12");
    // In the reverse order of these calls.
    directory.toFile().deleteOnExit();
    keys.toFile().deleteOnExit();
    trusted.toFile().deleteOnExit();
    keytool(keys);
    try {
      KeyStore keyStore = KeyStore.getInstance(keys.toFile(), PASSWORD.toCharArray());
      trust((X509Certificate) keyStore.getCertificate(ALIAS), trusted);
      return new TrustStore(context(keyManagers(keyStore)), trusted);
    } catch (GeneralSecurityException e) {
      throw new IOException("Could not make a certificate in " + directory, e);
    }
  }

  /** System properties that make a JVM use the file, when given to it at its start. */
  public Map<String, String> systemProperties() {
    return Map.of(
        "javax.net.ssl.trustStore",
        file.toString(),
        "javax.net.ssl.trustStorePassword",
        PASSWORD,
        "javax.net.ssl.trustStoreType",
        STORE_TYPE);
  }

  private static void keytool(Path keys) throws IOException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair",
            "-keyalg",
            "EC",
            "-keysize",
            "256",
            "-alias",
            ALIAS,
            "-dname",
            "CN=127.0.0.1",
            "-ext",
            "SAN=ip:127.0.0.1",
            "-validity",
            "365",
            "-storetype",
            STORE_TYPE,
            "-keystore",
            keys.toString(),
            "-storepass",
            PASSWORD);
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (process.waitFor() != 0) {
        throw new IOException("Failed: " + String.join(" ", command) + ": " + said);
      }
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted while making a certificate", e);
    }
  }

  private static void trust(X509Certificate certificate, Path file)
      throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance(STORE_TYPE);
    store.load(null, null);
    store.setCertificateEntry(ALIAS, certificate);
    // A JVM has one trust store: without the usual authorities it could fetch nothing else.
    int number = 0;
    for (X509Certificate authority : authorities()) {
      store.setCertificateEntry("authority-" + ++number, authority);
    }
    try (OutputStream out = Files.newOutputStream(file)) {
      store.store(out, PASSWORD.toCharArray());
    }
  }

  private static X509Certificate[] authorities() throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init((KeyStore) null);
    for (TrustManager manager : factory.getTrustManagers()) {
      if (manager instanceof X509TrustManager) {
        return ((X509TrustManager) manager).getAcceptedIssuers();
      }
    }
    return new X509Certificate[0];
  }

  private static KeyManager[] keyManagers(KeyStore keyStore) throws GeneralSecurityException {
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(keyStore, PASSWORD.toCharArray());
    return keys.getKeyManagers();
  }

  private static SSLContext context(KeyManager[] keys) throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys, null, null);
    return context;
  }
}
