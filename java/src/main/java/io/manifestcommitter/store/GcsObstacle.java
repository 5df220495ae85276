// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.util.Optional;

/** Why Google Cloud Storage is asked by {@code FileSystem} calls. */
public final class GcsObstacle {
  private final String reason;
  private final Optional<String> setting;
  private final String value;

  private GcsObstacle(String reason, Optional<String> setting, String value) {
    this.reason = reason;
    this.setting = setting;
    this.value = value;
  }

  /** A setting, which has another value where there is no obstacle. */
  static GcsObstacle setting(String key, String is, String shouldBe) {
    return new GcsObstacle(key + " is " + is, Optional.of(key), shouldBe);
  }

  /** Something that the connector lacks. */
  static GcsObstacle missing(Throwable what) {
    return new GcsObstacle(what.getMessage(), Optional.empty(), "");
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
