// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.cli.Clean;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkWrite;
import io.manifestcommitter.testing.TableFiles;
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
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Where Google's connector speaks gRPC: it renames and deletes the folders of a bucket with
 * hierarchical namespace by it, at an endpoint of its own. The committer does without.
 */
class FolderRpcIT {
  private static final String ENDPOINT = "storage.googleapis.com:443";

  private GcsEmulator emulator;
  private Configuration conf;
  private Path table;

  @BeforeEach
  void start() throws IOException {
    emulator = GcsEmulator.startHierarchical();
    conf = EmulatedStore.conf(emulator);
    conf.setBoolean("fs.gs.impl.disable.cache", true);
    // As the connector has it by default.
    conf.setBoolean("fs.gs.hierarchical.namespace.folders.enable", true);
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "1h");
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "3h");
    table = new Path(emulator.root().toString(), "table");
  }

  @AfterEach
  void stop() {
    emulator.close();
  }

  /** The connector tries for most of a minute. */
  @Test
  void byFileSystemCallsAndWithoutGrpcTheErrorNamesEndpointAndSetting() throws IOException {
    conf.set(CommitterConfig.GS_REQUESTS, "filesystem");
    try (ConnectProxy proxy = ConnectProxy.refusing()) {
      write("staging/p=1/f");

      assertThatThrownBy(() -> new Stores(conf).all().deleteTree(new Path(table, "staging")))
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll(
              table + "/staging", ENDPOINT, "fs.gs.hierarchical.namespace.folders.enable");
      assertThat(proxy.asked()).isNotEmpty().containsOnly(ENDPOINT);
    }
  }

  @Test
  void theCommitterDoesWithoutGrpc() throws Exception {
    try (ConnectProxy proxy = ConnectProxy.refusing()) {
      written(false, "p=1", "p=2").commit();
      written(true, "p=2", "p=3").commit();
      assertThat(visible()).containsExactly("p=1", "p=2", "p=3");

      // A driver that dies in its commit, which is rolled back, and one that never came so far.
      SparkWrite dead = written(true, "p=3");
      // After the seal and the old data: what publishes, and what would take all of that back.
      emulator.faults().add(FaultRule.on("folder-rename").call(3).always().refuse(403));
      emulator.faults().add(FaultRule.on("move").path("table/p=3/").always().refuse(403));
      assertThatThrownBy(dead::commit).hasRootCauseInstanceOf(IOException.class);
      emulator.faults().clear();
      assertThat(Recoveries.all(Recoveries.of(conf, true), table, Recovery.Direction.AS_MARKED))
          .contains(Outcome.ROLLED_BACK);
      assertThat(visible()).containsExactly("p=1", "p=2", "p=3");
      written(false, "p=4");
      Clean.ofSession(conf, table.toString(), "0s", false, true, true);
      assertThat(TableFiles.staging(table.getFileSystem(conf), table)).isEmpty();

      HadoopProtocolJob job = HadoopProtocolJob.into(new Path(table.getParent(), "other"), conf);
      job.setupJob();
      job.write(0, "p=1/f", "content".getBytes(StandardCharsets.UTF_8));
      job.commitTask(0, 0);
      job.commitJob();
      written(false, "p=5").abort();

      assertThat(emulator.log().counts())
          .containsKeys("folder-rename", "folder-delete", "folder-list");
      assertThat(proxy.asked()).isEmpty();
    }
  }

  private void write(String name) throws IOException {
    new Stores(conf).all().write(new Path(table, name), out -> out.write(1));
  }

  /** A job whose task is done. */
  private SparkWrite written(boolean isDynamic, String... partitions) throws IOException {
    SparkWrite write = SparkWrite.begin(conf, table, isDynamic ? "dynamic" : "append");
    write.task(0, partitions);
    return write;
  }

  /** The partitions in which there are files. */
  private List<String> visible() throws IOException {
    return TableFiles.visible(table.getFileSystem(conf), table).keySet().stream()
        .filter(name -> !name.endsWith("/"))
        .map(name -> name.substring(0, name.indexOf('/')))
        .toList();
  }

  /**
   * A proxy of this JVM for TLS, which notes where its clients want to go, and leads nobody
   * anywhere. Clients that do not go to 127.0.0.1 use it until {@link #close}.
   */
  static final class ConnectProxy implements AutoCloseable {
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
}
