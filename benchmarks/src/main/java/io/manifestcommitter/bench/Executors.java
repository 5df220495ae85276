// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** The executors of a cluster, as far as a committer sees them: some tasks at once. */
final class Executors {
  /** How many tasks are under way at once. */
  static final int TASKS_AT_ONCE = 16;

  private Executors() {}

  /** Runs tasks 0 to {@code tasks - 1}. */
  static void run(int tasks, Task work) throws IOException {
    ExecutorService executors = java.util.concurrent.Executors.newFixedThreadPool(TASKS_AT_ONCE);
    try {
      List<Future<?>> futures = new ArrayList<>();
      for (int task = 0; task < tasks; task++) {
        int number = task;
        futures.add(
            executors.submit(
                () -> {
                  work.run(number);
                  return null;
                }));
      }
      for (Future<?> future : futures) {
        future.get();
      }
    } catch (ExecutionException e) {
      throw new IOException("A task failed: " + e.getCause().getMessage(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while tasks ran", e);
    } finally {
      executors.shutdownNow();
    }
  }

  /** What a task does. */
  interface Task {
    /** Does it. */
    void run(int task) throws IOException;
  }
}
