// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.emulator.S3Emulator;
import java.io.IOException;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.VersionInfo;

/** A store with its connector, as far as faults are concerned. */
enum StoreUnderTest {
  ABFS("rename", 4, "300ms"),
  /**
   * By the client of its connector, which waits 1.25 seconds before its retry, always. A retry of
   * what was done is refused.
   */
  GS("move", 2, "2s"),
  /** The same, and the store knows a retry by its token. */
  GS_TOKENS("move", 2, "2s"),
  /** As {@link #GS}, in a bucket with hierarchical namespace. */
  GS_FOLDERS("move", 2, "2s"),
  /** By FileSystem calls. */
  GS_FILESYSTEM("move", 2, "2s"),
  /** No rename, but the completion of an upload makes a file visible. Repeated, it is refused. */
  S3A("complete", 2, "300ms");

  /**
   * How long a client waits for an answer that comes too late, in milliseconds, where it can be
   * told.
   */
  static final int SHORT_READ_TIMEOUT = 1000;

  /** How long it waits elsewhere: longer than a busy machine keeps an answer back. */
  static final int READ_TIMEOUT = 60_000;

  private final String publishOperation;
  private final int tries;
  private final String throttleTimeout;

  StoreUnderTest(String publishOperation, int tries, String throttleTimeout) {
    this.publishOperation = publishOperation;
    this.tries = tries;
    this.throttleTimeout = throttleTimeout;
  }

  /** The emulator's name for the request that makes a staged file visible. */
  String publishOperation() {
    return publishOperation;
  }

  /** How often the driver makes a request that fails, as {@link #configure} sets it. */
  int tries() {
    return tries;
  }

  /** Long enough for the committer to ask again after the driver gave up, and no longer. */
  String throttleTimeout() {
    return throttleTimeout;
  }

  /** Whether it is Google's. */
  boolean isGoogles() {
    return this != ABFS && this != S3A;
  }

  /** Whether there is a connector of ours or of Hadoop for all that a scenario does. */
  boolean serves(Scenario scenario) {
    if (scenario instanceof HadoopScenario) {
      return this != S3A;
    }
    return renamesDirectories() || !((SparkScenario) scenario).isByFile();
  }

  /**
   * Whether a sample has a kind of request: of a store that is another one's but for its renames,
   * only what these consist of.
   */
  boolean isSampled(String operation) {
    return this == ABFS
        || this == GS
        || this == S3A
        || operation.equals(publishOperation)
        || (this == GS_FOLDERS && operation.matches("folder-.*|operation.*"));
  }

  private boolean renamesDirectories() {
    return this == ABFS || this == GS_FOLDERS;
  }

  /**
   * Whether a lost answer can be waited for: hadoop-azure 3.3 waits 30 seconds, always, and
   * hadoop-aws 3.5 15 seconds at least.
   */
  boolean hasShortReadTimeout() {
    return isGoogles() || (this == S3A) == isHadoop33();
  }

  static boolean isHadoop33() {
    return VersionInfo.getVersion().startsWith("3.3.");
  }

  Emulator start() throws IOException {
    if (this == ABFS) {
      return AbfsEmulator.start();
    }
    if (this == S3A) {
      S3Emulator emulator = S3Emulator.start();
      emulator.forgetCompletions();
      return emulator;
    }
    GcsEmulator emulator =
        this == GS_FOLDERS ? GcsEmulator.startHierarchical() : GcsEmulator.start();
    if (this != GS_TOKENS) {
      emulator.forgetTokens();
    }
    return emulator;
  }

  RawStore raw(Emulator emulator) {
    if (this == S3A) {
      return new S3RawStore((S3Emulator) emulator);
    }
    return isGoogles()
        ? new GcsRawStore((GcsEmulator) emulator)
        : new AbfsRawStore((AbfsEmulator) emulator);
  }

  /** The emulator's settings, with the few that make a request's number mean the same each time. */
  void configure(Configuration conf, Emulator emulator, int readTimeout) {
    emulator.settings().forEach(conf::set);
    conf.setInt("fs.azure.io.retry.max.retries", ABFS.tries - 1);
    conf.setInt("fs.azure.http.read.timeout", readTimeout);
    conf.setInt("fs.gs.http.max.retry", GS.tries - 1);
    conf.setInt("fs.gs.http.read-timeout", readTimeout);
    conf.setBoolean("fs.gs.operation.move.enable", true);
    boolean isDirect = this == GS || this == GS_TOKENS || this == GS_FOLDERS;
    conf.set(CommitterConfig.GS_REQUESTS, isDirect ? "direct" : "filesystem");
    conf.setBoolean("fs.gs.status.parallel.enable", false);
    conf.setBoolean("fs.gs.implicit.dir.repair.enable", false);
    conf.setInt("fs.s3a.attempts.maximum", 0);
    conf.setInt("fs.s3a.retry.limit", S3A.tries - 1);
    conf.setInt("fs.s3a.retry.throttle.limit", S3A.tries - 1);
    conf.setInt("fs.s3a.connection.timeout", readTimeout);
    conf.set("fs.s3a.directory.marker.retention", "keep");
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
