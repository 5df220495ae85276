// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.watch;

import io.manifestcommitter.progress.CommitProgress;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.Commits;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.spark.SparkContext;

/**
 * A line on the console that tells how far the commits are, in the manner of Spark's stage bar, and
 * where Spark shows that. It is drawn from half a second on, five times a second, while no stage
 * runs. It leaves no trace.
 */
final class ConsoleBar {
  /** A commit that is shorter is not shown; as Spark does with stages. */
  private static final long FIRST_MILLIS = 500;

  private static final long EVERY_MILLIS = 200;
  private static final int USUAL_WIDTH = 80;
  private static final int SHORTEST_BAR = 3;

  private static Thread thread;

  private final PrintStream console;
  private final BooleanSupplier stagesRun;
  private final int width;
  private String shown = "";

  /**
   * A bar.
   *
   * @param console where Spark's is
   * @param stagesRun whether Spark's may be shown
   * @param width of the console, in characters
   */
  ConsoleBar(PrintStream console, BooleanSupplier stagesRun, int width) {
    this.console = console;
    this.stagesRun = stagesRun;
    this.width = width;
  }

  /** Shows the commits that run, until none does. */
  static synchronized void show(SparkContext spark) {
    if (thread == null) {
      ConsoleBar bar =
          new ConsoleBar(
              System.err, () -> spark.statusTracker().getActiveStageIds().length > 0, columns());
      thread = new Thread(bar::run, "manifest-committer-bar");
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** As Spark's bar has it. */
  private static int columns() {
    String columns = System.getenv().getOrDefault("COLUMNS", "");
    try {
      return Integer.parseInt(columns);
    } catch (NumberFormatException e) {
      return USUAL_WIDTH;
    }
  }

  private static synchronized boolean isOver() {
    if (Commits.running().isEmpty()) {
      thread = null;
      return true;
    }
    return false;
  }

  private void run() {
    try {
      TimeUnit.MILLISECONDS.sleep(FIRST_MILLIS);
      while (!isOver()) {
        draw(Commits.running());
        TimeUnit.MILLISECONDS.sleep(EVERY_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      clear();
    }
  }

  /** Shows where the commits are that have run for long enough; nothing while stages run. */
  void draw(List<CommitSnapshot> running) {
    List<CommitSnapshot> longer =
        running.stream()
            .filter(commit -> commit.millis >= FIRST_MILLIS)
            .collect(Collectors.toList());
    if (longer.isEmpty() || stagesRun.getAsBoolean()) {
      clear();
      return;
    }
    String line = line(longer, width);
    String rest = " ".repeat(Math.max(0, shown.length() - line.length()));
    console.print("\r" + line + rest + "\r");
    console.flush();
    shown = line;
  }

  void clear() {
    if (!shown.isEmpty()) {
      console.print("\r" + " ".repeat(shown.length()) + "\r");
      console.flush();
      shown = "";
    }
  }

  /** What is shown of commits, the first of them above all, in less than {@code width}. */
  static String line(List<CommitSnapshot> commits, int width) {
    CommitSnapshot first = commits.get(0);
    String kind = first.kind.name();
    String head = "[" + kind.charAt(0) + kind.substring(1).toLowerCase(Locale.ROOT) + ": ";
    String tail = commits.size() == 1 ? "]" : "] +" + (commits.size() - 1);
    if (first.waiting.isPresent()) {
      return fit(head + first.waiting.get(), tail, width);
    }
    if (first.kind == CommitSnapshot.Kind.SETUP) {
      return fit("[Setup: looking for unfinished jobs", tail, width);
    }
    head += CommitProgress.shortName(first.step).replace('_', ' ');
    if (first.total == 0) {
      return fit(head, tail, width);
    }
    String left =
        first.secondsLeft() != null
            ? String.format(
                Locale.ROOT, " %,.0f/s, %,d s left", first.perSecond, first.secondsLeft())
            : "";
    String count = String.format(Locale.ROOT, "(%,d / %,d)%s", first.done, first.total, left);
    int room = width - 1 - head.length() - count.length() - tail.length() - 2;
    if (room < SHORTEST_BAR) {
      return fit(head + " " + count, tail, width);
    }
    int done = (int) (room * first.done / first.total);
    String bar = "=".repeat(done) + (done < room ? ">" : "");
    return head + " " + bar + " ".repeat(room - bar.length()) + " " + count + tail;
  }

  private static String fit(String text, String tail, int width) {
    int room = Math.max(0, width - 1 - tail.length());
    return (text.length() > room ? text.substring(0, room) : text) + tail;
  }
}
