// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;

/**
 * ADLS Gen2 with a hierarchical namespace. Two accounts lead to one store: one through HTTP, for
 * {@code abfs}, and one through TLS, for {@code abfss}.
 */
public final class AbfsEmulator extends Emulator {
  private static final String FILESYSTEM = "data";
  private static final String ACCOUNT = "emulated.dfs.core.windows.net";
  private static final String SECURE_ACCOUNT = "emulatedtls.dfs.core.windows.net";
  private static final int SERVER_BUSY = 503;

  private final AbfsProtocol protocol;
  private final TrustStore certificate;
  private final HttpListener secure;
  private volatile boolean flat;

  private AbfsEmulator(int port, AbfsProtocol protocol, TrustStore certificate) throws IOException {
    super(protocol, port, SERVER_BUSY);
    this.protocol = protocol;
    this.certificate = certificate;
    this.secure = HttpListener.openTls(0, certificate.context(), handler());
  }

  /** Starts on free ports. */
  public static AbfsEmulator start() throws IOException {
    return start(0);
  }

  /**
   * Starts, with one empty filesystem.
   *
   * @param port of HTTP, 0 for a free one; that of TLS is always a free one
   * @throws IOException where the port is taken or no certificate can be made
   */
  public static AbfsEmulator start(int port) throws IOException {
    return new AbfsEmulator(port, new AbfsProtocol(FILESYSTEM), TrustStore.ofThisJvm());
  }

  @Override
  public URI root() {
    return URI.create("abfs://" + FILESYSTEM + "@" + ACCOUNT + "/");
  }

  /** The same store as {@link #root()}, through TLS. */
  public URI secureRoot() {
    return URI.create("abfss://" + FILESYSTEM + "@" + SECURE_ACCOUNT + "/");
  }

  /** The port of {@link #secureRoot()}. */
  public int securePort() {
    return secure.port();
  }

  /**
   * What a JVM needs that uses {@link #secureRoot()}. The same for all emulators of this JVM, and
   * removed when it ends.
   */
  public TrustStore trustStore() {
    return certificate;
  }

  /** How a rename onto an existing directory is answered; it nests, unless told. */
  public void onExistingDirectory(Onto answer) {
    protocol.onto(answer);
  }

  /**
   * Answers like an account without hierarchical namespace where a client asks whether it has one,
   * and leaves it to {@link #settings()} that the client asks.
   */
  public void flat(boolean answer) {
    flat = answer;
    protocol.flat(answer);
  }

  /** From now on a renamed file has another etag, which the service promises it has not. */
  public void changeEtags() {
    protocol.tree().changeEtags();
  }

  /** From now on what is written to a file by its old name comes to it, unlike at the service. */
  public void followRenames() {
    protocol.tree().followRenames();
  }

  /**
   * From now on what is written to a file that was deleted makes it again, unlike at the service.
   */
  public void remakeFiles() {
    protocol.tree().remakeFiles();
  }

  /**
   * How many paths one request of a paginated recursive delete removes; all, unless told. The
   * client has to go on; until then a part is gone.
   */
  public void deletePage(int paths) {
    protocol.deletePage(paths);
  }

  /** {@inheritDoc} Retries come after milliseconds, so that tests are fast. */
  @Override
  public Map<String, String> settings() {
    Map<String, String> settings = new TreeMap<>();
    account(settings, ACCOUNT, port());
    account(settings, SECURE_ACCOUNT, securePort());
    settings.put("fs.azure.always.use.https", "false");
    settings.put("fs.azure.ssl.channel.mode", "Default_JSSE");
    if (!flat) {
      settings.put("fs.azure.account.hns.enabled", "true");
    }
    settings.put("fs.azure.io.retry.max.retries", "3");
    settings.put("fs.azure.io.retry.min.backoff.interval", "10");
    settings.put("fs.azure.io.retry.max.backoff.interval", "50");
    settings.put("fs.azure.io.retry.backoff.interval", "10");
    settings.put("fs.azure.enable.autothrottling", "false");
    settings.put("fs.azure.networking.library", "JDK_HTTP_URL_CONNECTION");
    settings.put("fs.azure.http.read.timeout", "10000");
    settings.put("fs.azure.account.expect.header.enabled", "false");
    // hadoop-azure 3.3.2 to 3.3.4 can mix up prefetched blocks (HADOOP-18546).
    settings.put("fs.azure.readaheadqueue.depth", "0");
    return settings;
  }

  private static void account(Map<String, String> settings, String account, int port) {
    settings.put("fs.azure.abfs.endpoint." + account, "127.0.0.1:" + port);
    settings.put("fs.azure.account.auth.type." + account, "SharedKey");
    settings.put(
        "fs.azure.account.key." + account,
        Base64.getEncoder().encodeToString("not a secret".getBytes(StandardCharsets.UTF_8)));
  }

  @Override
  public Map<String, Long> tree() {
    return protocol.tree().sizes();
  }

  @Override
  public void close() {
    super.close();
    secure.close();
  }
}
