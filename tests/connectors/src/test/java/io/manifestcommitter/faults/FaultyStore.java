// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.emulator.Onto;
import io.manifestcommitter.emulator.RequestLog;
import io.manifestcommitter.emulator.S3Emulator;
import io.manifestcommitter.testing.HadoopCalls;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.VersionInfo;

/**
 * An emulator whose requests go wrong as told, and a connector for it that no other test has:
 * Hadoop keeps one for each user.
 */
final class FaultyStore implements AutoCloseable {
  /** How long an impatient client waits for an answer, in milliseconds. */
  static final int SHORT_READ_TIMEOUT = 1000;

  /** How long it waits elsewhere: longer than a busy machine keeps an answer back. */
  private static final int READ_TIMEOUT = 60_000;

  private static final AtomicInteger USERS = new AtomicInteger();

  /** The stores, and the emulator's name for the request that makes a staged file visible. */
  enum Kind {
    ABFS("rename", 4),
    GS("move", 2),
    /** The same without the client inside of the connector, by FileSystem calls. */
    GS_FILESYSTEM("move", 2),
    /** A bucket with hierarchical namespace. */
    GS_FOLDERS("move", 2),
    /** No rename, but the completion of an upload makes a file visible. Repeated, it is refused. */
    S3A("complete", 2);

    private final String publishes;
    private final int tries;

    Kind(String publishes, int tries) {
      this.publishes = publishes;
      this.tries = tries;
    }

    String publishes() {
      return publishes;
    }

    /** How often the connector makes a request that fails. */
    int tries() {
      return tries;
    }

    /** hadoop-azure 3.3 waits 30 seconds for an answer, always; hadoop-aws 3.5 at least 15. */
    boolean hasShortReadTimeout() {
      return publishes.equals("move") || (this == S3A) == isHadoop33();
    }

    private Emulator start() throws IOException {
      switch (this) {
        case ABFS:
          return AbfsEmulator.start();
        case S3A:
          S3Emulator s3 = S3Emulator.start();
          s3.forgetCompletions();
          return s3;
        default:
          GcsEmulator gcs =
              this == GS_FOLDERS ? GcsEmulator.startHierarchical() : GcsEmulator.start();
          gcs.forgetTokens();
          return gcs;
      }
    }
  }

  private final Emulator emulator;
  private final Configuration conf = new Configuration();
  private final UserGroupInformation user =
      UserGroupInformation.createUserForTesting(
          "faults-" + USERS.incrementAndGet(), new String[] {"faults"});
  private int tables;

  private FaultyStore(Kind kind, int readTimeout) throws IOException {
    emulator = kind.start();
    emulator.settings().forEach(conf::set);
    HadoopCalls.bind(conf, emulator.root().getScheme());
    conf.setInt("fs.azure.io.retry.max.retries", Kind.ABFS.tries - 1);
    conf.setInt("fs.azure.http.read.timeout", readTimeout);
    conf.setInt("fs.gs.http.max.retry", Kind.GS.tries - 1);
    conf.setInt("fs.gs.http.read-timeout", readTimeout);
    conf.set(CommitterConfig.GS_REQUESTS, kind == Kind.GS_FILESYSTEM ? "filesystem" : "direct");
    conf.setInt("fs.s3a.attempts.maximum", 0);
    conf.setInt("fs.s3a.retry.limit", Kind.S3A.tries - 1);
    conf.setInt("fs.s3a.retry.throttle.limit", Kind.S3A.tries - 1);
    conf.setInt("fs.s3a.connection.timeout", readTimeout);
    // One thread: requests come in one order.
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "24h");
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "48h");
    // Long enough for the committer to ask again after the connector gave up.
    conf.set(CommitterConfig.THROTTLE_TIMEOUT, "2s");
  }

  static FaultyStore open(Kind kind) throws IOException {
    return new FaultyStore(kind, READ_TIMEOUT);
  }

  /** Its client takes an answer for lost that is late. */
  static FaultyStore impatient(Kind kind) throws IOException {
    return new FaultyStore(kind, SHORT_READ_TIMEOUT);
  }

  static boolean isHadoop33() {
    return VersionInfo.getVersion().startsWith("3.3.");
  }

  /** The settings of a job. */
  Configuration conf() {
    return conf;
  }

  /** How it answers a rename onto a directory, if it is Azure's. */
  void onExistingDirectory(Onto answer) {
    ((AbfsEmulator) emulator).onExistingDirectory(answer);
  }

  /** A table that does not exist yet. */
  Path newTable() {
    return new Path(emulator.root().toString() + "table-" + ++tables);
  }

  /** What is below a directory, relative to it, seen past the connector. */
  List<String> below(Path directory) {
    String prefix = directory.toUri().getPath() + "/";
    return emulator.tree().keySet().stream()
        .filter(path -> path.startsWith(prefix) && path.length() > prefix.length())
        .map(path -> path.substring(prefix.length()))
        .toList();
  }

  /** Does something with the connector. */
  <T> T run(PrivilegedExceptionAction<T> action) throws IOException, InterruptedException {
    return user.doAs(action);
  }

  /** The same while requests go wrong; the requests that it makes are in {@link #requests()}. */
  <T> T run(List<FaultRule> rules, PrivilegedExceptionAction<T> action)
      throws IOException, InterruptedException {
    rules.forEach(emulator.faults()::add);
    emulator.log().clear();
    try {
      return run(action);
    } finally {
      emulator.faults().clear();
    }
  }

  List<RequestLog.Entry> requests() {
    return emulator.log().entries();
  }

  @Override
  public void close() throws IOException {
    emulator.faults().clear();
    FileSystem.closeAllForUGI(user);
    emulator.close();
  }
}
