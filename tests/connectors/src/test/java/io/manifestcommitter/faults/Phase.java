// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

/** The part of a job that a request belongs to. */
enum Phase {
  SETUP("job setup"),
  TASK_COMMIT("task commit"),
  COMMIT_NEW("job commit, new partitions"),
  COMMIT_APPEND("job commit, append"),
  OVERWRITE("overwrite"),
  CLEANUP("cleanup"),
  ABORT("abort");

  private final String text;

  Phase(String text) {
    this.text = text;
  }

  @Override
  public String toString() {
    return text;
  }
}
