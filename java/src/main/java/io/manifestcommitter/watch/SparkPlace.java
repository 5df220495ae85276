// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.watch;

/** One of the places where Spark shows commits, and whether it does so in this JVM. Immutable. */
public final class SparkPlace {
  private final String name;
  private final boolean isShown;
  private final String how;

  SparkPlace(String name, boolean isShown, String how) {
    this.name = name;
    this.isShown = isShown;
    this.how = how;
  }

  /** {@code console}, {@code metrics} or {@code events}. */
  public String name() {
    return name;
  }

  /** Whether commits are shown there. */
  public boolean isShown() {
    return isShown;
  }

  /** Where exactly, or why not. */
  public String how() {
    return how;
  }

  @Override
  public String toString() {
    return (isShown ? "yes, " : "no, ") + how;
  }
}
