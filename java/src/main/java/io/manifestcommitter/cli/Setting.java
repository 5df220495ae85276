// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Objects;

/** The value of a setting, and where it was set. */
public final class Setting {
  private final String value;
  private final String source;

  /**
   * A value.
   *
   * @param source what set it, in words for users
   */
  public Setting(String value, String source) {
    this.value = Objects.requireNonNull(value);
    this.source = Objects.requireNonNull(source);
  }

  /** What it is set to. */
  @JsonProperty
  public String value() {
    return value;
  }

  /** What set it, in words for users. */
  @JsonProperty
  public String source() {
    return source;
  }

  @Override
  public String toString() {
    return value + " (" + source + ")";
  }
}
