// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.Test;

final class TlsTest {
  @Test
  void trustStoreOpensTheSameStore() throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      new Dfs(emulator.port()).mkdirs("/d");
      HttpClient client =
          HttpClient.newBuilder().sslContext(context(emulator.trustStore())).build();

      HttpResponse<String> status = client.send(head(emulator), BodyHandlers.ofString());

      assertThat(status.statusCode()).isEqualTo(200);
      assertThat(status.headers().firstValue("x-ms-resource-type")).hasValue("directory");
      assertThat(emulator.log().counts()).containsEntry("mkdirs", 1L).containsEntry("status", 1L);
    }
  }

  @Test
  void emulatorsOfOneJvmShareIt() throws Exception {
    try (AbfsEmulator one = AbfsEmulator.start();
        AbfsEmulator other = AbfsEmulator.start()) {
      assertThat(other.trustStore().file()).isEqualTo(one.trustStore().file());
    }
  }

  @Test
  void certificateIsNotTrustedWithoutIt() throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      assertThatThrownBy(
              () -> HttpClient.newHttpClient().send(head(emulator), BodyHandlers.ofString()))
          .isInstanceOf(SSLHandshakeException.class);
      assertThat(emulator.log().entries()).isEmpty();
    }
  }

  @Test
  void trustStoreKeepsTheUsualAuthorities() throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      TrustManagerFactory usual =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      usual.init((KeyStore) null);
      int authorities =
          ((X509TrustManager) usual.getTrustManagers()[0]).getAcceptedIssuers().length;
      assertThat(store(emulator.trustStore()).size()).isEqualTo(authorities + 1);
    }
  }

  private static HttpRequest head(AbfsEmulator emulator) {
    return HttpRequest.newBuilder(
            URI.create("https://127.0.0.1:" + emulator.securePort() + "/a/data/d?action=getStatus"))
        .method("HEAD", HttpRequest.BodyPublishers.noBody())
        .build();
  }

  private static SSLContext context(TrustStore trustStore)
      throws GeneralSecurityException, IOException {
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store(trustStore));
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  private static KeyStore store(TrustStore trustStore)
      throws GeneralSecurityException, IOException {
    return KeyStore.getInstance(trustStore.file().toFile(), trustStore.password().toCharArray());
  }
}
