package io.manifestcommitter.cli;

import java.util.Objects;

/** The value of a setting, and where it was set. */
final class Setting {
  private final String value;
  private final String source;

  /**
   * A value.
   *
   * @param source who or what set it, for people
   */
  Setting(String value, String source) {
    this.value = Objects.requireNonNull(value);
    this.source = Objects.requireNonNull(source);
  }

  String value() {
    return value;
  }

  String source() {
    return source;
  }

  @Override
  public String toString() {
    return value + " (" + source + ")";
  }
}
