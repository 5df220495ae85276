package io.manifestcommitter.faults;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.GcsEmulator;
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
  /**
   * By FileSystem calls and without moves: a rename is a copy and a deletion, so both ends may
   * exist.
   */
  GS_COPIES("rewrite", 2, "2s");

  /** How long a client waits for an answer, in milliseconds, where it can be told. */
  static final int READ_TIMEOUT = 1000;

  private final String renameOperation;
  private final int tries;
  private final String throttleTimeout;

  StoreUnderTest(String renameOperation, int tries, String throttleTimeout) {
    this.renameOperation = renameOperation;
    this.tries = tries;
    this.throttleTimeout = throttleTimeout;
  }

  /** The emulator's name for the request that renames a file. */
  String renameOperation() {
    return renameOperation;
  }

  /** How often the driver makes a request that fails, as {@link #configure} sets it. */
  int tries() {
    return tries;
  }

  /** Long enough for the committer to ask again after the driver gave up, and no longer. */
  String throttleTimeout() {
    return throttleTimeout;
  }

  /** Whether it is Google's, with moves or without. */
  boolean isGoogles() {
    return this != ABFS;
  }

  /**
   * Whether a sample has a kind of request: of a store that is another one's but for its renames,
   * only what these consist of.
   */
  boolean isSampled(String operation) {
    return this == ABFS
        || this == GS
        || operation.equals(renameOperation)
        || (this == GS_FOLDERS && operation.matches("folder-.*|operation.*"))
        || (this == GS_COPIES && operation.equals("delete"));
  }

  boolean renamesDirectories() {
    return this == ABFS || this == GS_FOLDERS;
  }

  /** Whether a lost answer can be waited for: hadoop-azure 3.3 waits 30 seconds, always. */
  boolean hasShortReadTimeout() {
    return isGoogles() || !isHadoop33();
  }

  static boolean isHadoop33() {
    return VersionInfo.getVersion().startsWith("3.3.");
  }

  Emulator start() throws IOException {
    if (!isGoogles()) {
      return AbfsEmulator.start();
    }
    GcsEmulator emulator =
        this == GS_FOLDERS ? GcsEmulator.startHierarchical() : GcsEmulator.start();
    if (this != GS_TOKENS) {
      emulator.forgetTokens();
    }
    return emulator;
  }

  RawStore raw(Emulator emulator) {
    return isGoogles()
        ? new GcsRawStore((GcsEmulator) emulator)
        : new AbfsRawStore((AbfsEmulator) emulator);
  }

  /** The emulator's settings, with the few that make a request's number mean the same each time. */
  void configure(Configuration conf, Emulator emulator) {
    emulator.settings().forEach(conf::set);
    conf.setInt("fs.azure.io.retry.max.retries", ABFS.tries - 1);
    conf.setInt("fs.azure.http.read.timeout", READ_TIMEOUT);
    conf.setInt("fs.gs.http.max.retry", GS.tries - 1);
    conf.setInt("fs.gs.http.read-timeout", READ_TIMEOUT);
    conf.setBoolean("fs.gs.operation.move.enable", this != GS_COPIES);
    boolean isDirect = this == GS || this == GS_TOKENS || this == GS_FOLDERS;
    conf.set(CommitterConfig.GS_REQUESTS, isDirect ? "direct" : "filesystem");
    conf.setBoolean("fs.gs.status.parallel.enable", false);
    conf.setBoolean("fs.gs.implicit.dir.repair.enable", false);
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
