// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

/** What is measured separately. */
enum Phase {
  JOB_SETUP("Job setup"),
  TASK_COMMIT("Task commit"),
  JOB_COMMIT("Job commit");

  private final String title;

  Phase(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }
}
