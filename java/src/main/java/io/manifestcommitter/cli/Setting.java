// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import java.util.Objects;

/** The value of a setting, and where it was set. */
public final class Setting {
  private final String value;
  private final String source;

  /**
   * A value.
   *
   * @param source who or what set it, for people
   */
  public Setting(String value, String source) {
    this.value = Objects.requireNonNull(value);
    this.source = Objects.requireNonNull(source);
  }

  /** What it is set to. */
  public String value() {
    return value;
  }

  /** Who or what set it, for people. */
  public String source() {
    return source;
  }

  @Override
  public String toString() {
    return value + " (" + source + ")";
  }
}
