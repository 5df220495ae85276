// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;

/** A port of 127.0.0.1 with a thread for each request under way. */
final class HttpListener implements AutoCloseable {
  private static final int BACKLOG = 1024;

  static {
    // The JDK's server reads these once. Without the first, every response waits for the client's
    // delayed acknowledgement; without the second, it closes connections that clients mean to
    // reuse.
    setUnlessSet("sun.net.httpserver.nodelay", "true");
    setUnlessSet("sun.net.httpserver.maxIdleConnections", "10000");
    setUnlessSet("sun.net.httpserver.idleInterval", "300");
  }

  private final HttpServer server;
  private final ExecutorService threads;

  private HttpListener(HttpServer server, HttpHandler handler) {
    this.server = server;
    this.threads =
        Executors.newCachedThreadPool(
            task -> {
              Thread thread = new Thread(task, "emulator-" + port());
              thread.setDaemon(true);
              return thread;
            });
    server.setExecutor(threads);
    server.createContext("/", handler);
    server.start();
  }

  /**
   * Listens for HTTP.
   *
   * @param port 0 for a free one
   * @throws IOException where the port is taken
   */
  static HttpListener open(int port, HttpHandler handler) throws IOException {
    HttpServer server = HttpServer.create();
    bind(server, port);
    return new HttpListener(server, handler);
  }

  /** Listens for HTTPS; otherwise like {@link #open}. */
  static HttpListener openTls(int port, SSLContext tls, HttpHandler handler) throws IOException {
    HttpsServer server = HttpsServer.create();
    bind(server, port);
    server.setHttpsConfigurator(new HttpsConfigurator(tls));
    return new HttpListener(server, handler);
  }

  int port() {
    return server.getAddress().getPort();
  }

  /** Interrupts the requests under way, also those that wait, and closes all connections. */
  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private static void bind(HttpServer server, int port) throws IOException {
    InetAddress local = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    try {
      server.bind(new InetSocketAddress(local, port), BACKLOG);
    } catch (IOException e) {
      throw new IOException("Cannot listen on port " + port + " of 127.0.0.1", e);
    }
  }

  private static void setUnlessSet(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }
}
