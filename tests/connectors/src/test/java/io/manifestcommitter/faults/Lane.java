// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import io.manifestcommitter.ManifestCommitterFactory;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.Onto;
import java.io.IOException;
import java.nio.file.Files;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * One emulator, and users of it: Hadoop keeps a connector for each user, so lanes do not disturb
 * each other. Used by one thread at a time.
 */
final class Lane implements AutoCloseable {
  private static final AtomicInteger LANES = new AtomicInteger();

  private final StoreUnderTest store;
  private final Emulator emulator;
  private final RawStore raw;
  private final Client patient;
  private final Client impatient;
  private final java.nio.file.Path disk;
  private Client client;
  private int tables;

  private Lane(StoreUnderTest store) throws IOException {
    this.store = store;
    this.emulator = store.start();
    this.raw = store.raw(emulator);
    this.disk = Files.createTempDirectory("executors-");
    this.patient = new Client(StoreUnderTest.READ_TIMEOUT);
    this.impatient = new Client(StoreUnderTest.SHORT_READ_TIMEOUT);
    this.client = patient;
  }

  /** A user with settings, so with a connector of its own. */
  private final class Client {
    private final Configuration conf = new Configuration();
    private final UserGroupInformation user =
        UserGroupInformation.createUserForTesting(
            "lane-" + LANES.incrementAndGet(), new String[] {"lanes"});

    private Client(int readTimeout) {
      store.configure(conf, emulator, readTimeout);
      // One thread: requests come in one order, so that a number names the same one in each run.
      conf.setInt(CommitterConfig.IO_THREADS, 1);
      conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "24h");
      conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "48h");
      conf.set(CommitterConfig.THROTTLE_TIMEOUT, store.throttleTimeout());
      conf.setInt(CommitterConfig.MANIFEST_SAVE_ATTEMPTS, 2);
      conf.set("fs.s3a.buffer.dir", disk.toString());
      conf.set(
          "mapreduce.outputcommitter.factory.scheme." + emulator.root().getScheme(),
          ManifestCommitterFactory.class.getName());
    }
  }

  static Lane open(StoreUnderTest store) throws IOException {
    return new Lane(store);
  }

  StoreUnderTest store() {
    return store;
  }

  Emulator emulator() {
    return emulator;
  }

  RawStore raw() {
    return raw;
  }

  /** Settings for one job. */
  Configuration conf() {
    return new Configuration(client.conf);
  }

  /** What tasks left on the disk of their executor. */
  List<java.nio.file.Path> onDisk() throws IOException {
    try (Stream<java.nio.file.Path> found = Files.walk(disk)) {
      return found.filter(Files::isRegularFile).collect(Collectors.toList());
    }
  }

  /** A table that does not exist yet. */
  Path newTable() {
    return new Path(emulator.root().toString() + "table-" + ++tables);
  }

  /** Whether, from now on, an answer comes after the client's patience. */
  void expectStall(boolean isExpected) {
    client = isExpected ? impatient : patient;
  }

  boolean isImpatient() {
    return client == impatient;
  }

  /** How the store answers a rename onto a directory, where it has an answer to choose. */
  void onExistingDirectory(Onto answer) {
    if (emulator instanceof AbfsEmulator) {
      ((AbfsEmulator) emulator).onExistingDirectory(answer);
    }
  }

  /** Does something as the lane's user. */
  <T> T run(Callable<T> action) throws IOException, InterruptedException {
    return client.user.doAs((PrivilegedExceptionAction<T>) action::call);
  }

  @Override
  public void close() throws IOException {
    emulator.faults().clear();
    FileSystem.closeAllForUGI(patient.user);
    FileSystem.closeAllForUGI(impatient.user);
    emulator.close();
  }
}
