// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.config;

import java.util.Objects;

/**
 * One option of the committer, as {@link CommitterConfig} reads it and the documentation lists it.
 */
public final class CommitterOption {
  /** Which protocols read an option. */
  public enum Scope {
    /** Both protocols. */
    BOTH,
    /** MapReduce, RDD writers and the stock Spark bindings. */
    HADOOP,
    /** Spark SQL and DataFrames. */
    SPARK
  }

  private final String key;
  private final String fallback;
  private final String allowed;
  private final Scope scope;
  private final String meaning;

  CommitterOption(String key, String fallback, String allowed, Scope scope, String meaning) {
    this.key = Objects.requireNonNull(key);
    this.fallback = Objects.requireNonNull(fallback);
    this.allowed = Objects.requireNonNull(allowed);
    this.scope = Objects.requireNonNull(scope);
    this.meaning = Objects.requireNonNull(meaning);
  }

  /** The key in Hadoop's configuration. */
  public String key() {
    return key;
  }

  /** The value where none is set; empty for none. */
  public String fallback() {
    return fallback;
  }

  /** Which values are allowed, for people. */
  public String allowed() {
    return allowed;
  }

  /** Which protocol reads it. */
  public Scope scope() {
    return scope;
  }

  /** What it does, in one sentence. */
  public String meaning() {
    return meaning;
  }

  @Override
  public String toString() {
    return key;
  }
}
