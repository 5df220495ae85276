// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A proxy of this JVM for TLS, which notes where its clients want to go, and leads nobody anywhere.
 * Clients that do not go to 127.0.0.1 use it until {@link #close}.
 */
final class ConnectProxy implements AutoCloseable {
  private static final String HOST = "https.proxyHost";
  private static final String PORT = "https.proxyPort";
  private static final int END_OF_LINE = '\n';

  private final ServerSocket listener;
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  private ConnectProxy() throws IOException {
    this.listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
    threads.execute(this::accept);
    System.setProperty(HOST, "127.0.0.1");
    System.setProperty(PORT, Integer.toString(listener.getLocalPort()));
  }

  /** Refuses everybody. */
  static ConnectProxy refusing() throws IOException {
    return new ConnectProxy();
  }

  /** Where clients wanted to go: host and port. */
  List<String> asked() {
    return List.copyOf(asked);
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        open.add(client);
        threads.execute(() -> serve(client));
      } catch (IOException e) {
        // It is closed.
        return;
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      InputStream in = client.getInputStream();
      OutputStream out = client.getOutputStream();
      asked.add(line(in).split(" ", -1)[1]);
      String header;
      do {
        header = line(in);
      } while (!header.isEmpty());
      out.write("HTTP/1.1 403 Forbidden\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      // It has gone.
      return;
    }
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next >= 0 && next != END_OF_LINE; next = in.read()) {
      line.append((char) next);
    }
    return line.toString().trim();
  }

  @Override
  public void close() {
    System.clearProperty(HOST);
    System.clearProperty(PORT);
    try {
      listener.close();
      for (Socket socket : open) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      threads.shutdownNow();
    }
  }
}
