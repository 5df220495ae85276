// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.util.Locale;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;

/** How Google Cloud Storage is asked. */
public enum GcsRequests {
  /** By the client of Google's connector, where it has what is needed. */
  DIRECT,
  /** By Hadoop's {@code FileSystem} calls. */
  FILESYSTEM;

  /** Which client the connector uses. */
  private static final String CLIENT_TYPE = "fs.gs.client.type";

  /** The one that speaks JSON; the committer was never seen with the other one. */
  private static final String JSON_CLIENT = "HTTP_API_CLIENT";

  /** The option that says so. */
  public static final String OPTION = "mapreduce.manifest.committer.gs.requests";

  /**
   * Why FileSystem calls are used where a filesystem of this class is open; empty if they are not.
   * Makes no request.
   */
  public static Optional<Obstacle> whyNotDirect(Class<?> fileSystem, Configuration conf) {
    if (of(conf) == FILESYSTEM) {
      return Optional.of(Obstacle.setting(OPTION, "filesystem", "direct"));
    }
    String client = conf.getTrimmed(CLIENT_TYPE, JSON_CLIENT);
    if (!client.equals(JSON_CLIENT)) {
      return Optional.of(Obstacle.setting(CLIENT_TYPE, client, JSON_CLIENT));
    }
    try {
      GcsCalls.of(fileSystem);
      return Optional.empty();
    } catch (ReflectiveOperationException | LinkageError e) {
      return Optional.of(Obstacle.missing(e));
    }
  }

  /** What was asked for. A value that is none is refused where all options are read. */
  static GcsRequests of(Configuration conf) {
    boolean isFileSystem =
        conf.getTrimmed(OPTION, "").toUpperCase(Locale.ROOT).equals(FILESYSTEM.name());
    return isFileSystem ? FILESYSTEM : DIRECT;
  }

  /** Why Google Cloud Storage is asked by {@code FileSystem} calls. */
  public static final class Obstacle {
    private final String reason;
    private final Optional<String> setting;
    private final String value;

    private Obstacle(String reason, Optional<String> setting, String value) {
      this.reason = reason;
      this.setting = setting;
      this.value = value;
    }

    /** A setting, which has another value where there is no obstacle. */
    static Obstacle setting(String key, String is, String shouldBe) {
      return new Obstacle(key + " is " + is, Optional.of(key), shouldBe);
    }

    /** Something that the connector lacks. */
    static Obstacle missing(Throwable what) {
      return new Obstacle(what.getMessage(), Optional.empty(), "");
    }

    /** For a message. */
    public String reason() {
      return reason;
    }

    /** The setting that is in the way, if it is one. */
    public Optional<String> setting() {
      return setting;
    }

    /** What that setting should be. */
    public String value() {
      return value;
    }
  }
}
