// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import java.util.Objects;

/** One step of a commit that has ended. */
public final class Step {
  private static final String STAGE = "job_stage_";

  private final String name;
  private final long startMillis;
  private final long millis;

  Step(String name, long startMillis, long millis) {
    this.name = Objects.requireNonNull(name);
    this.startMillis = startMillis;
    this.millis = millis;
  }

  /** As in {@code StatisticNames}. */
  public String name() {
    return name;
  }

  /** The same without {@code job_stage_}. */
  public String shortName() {
    return shortName(name);
  }

  /** The name of a step without {@code job_stage_}. */
  public static String shortName(String name) {
    return name.startsWith(STAGE) ? name.substring(STAGE.length()) : name;
  }

  /** How many milliseconds after the commit began. */
  public long startMillis() {
    return startMillis;
  }

  /** How long it took, in milliseconds. */
  public long millis() {
    return millis;
  }
}
