// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

/** What a job writes: each of its tasks puts files into each of the directories. */
final class Shape {
  private final int tasks;
  private final int files;
  private final int directories;

  /**
   * A shape.
   *
   * @param files of all tasks together; at least one for each task and directory
   */
  Shape(int tasks, int files, int directories) {
    if (files < tasks * directories) {
      throw new IllegalArgumentException("Not every task has a file for every directory");
    }
    this.tasks = tasks;
    this.files = files;
    this.directories = directories;
  }

  int tasks() {
    return tasks;
  }

  int files() {
    return files;
  }

  int directories() {
    return directories;
  }

  /** The task that writes a file. */
  int taskOf(int file) {
    return file % tasks;
  }

  /** Where a file belongs, below the table. */
  String nameOf(int file) {
    return "p=" + file / tasks % directories + "/part-" + file;
  }
}
