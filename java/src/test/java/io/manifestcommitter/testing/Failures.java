// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.apache.hadoop.fs.FSError;

/** What goes wrong, as text. */
public final class Failures {
  private Failures() {}

  /**
   * What an action failed with, an {@link Error} of {@link Fate} too, with all that is suppressed
   * in it; empty if it did not.
   */
  public static String of(Action action) {
    try {
      action.run();
      return "";
    } catch (IOException | RuntimeException | LinkageError | FSError e) {
      StringBuilder text = new StringBuilder(e.toString());
      for (Throwable suppressed : e.getSuppressed()) {
        text.append("; ").append(suppressed);
      }
      return text.toString();
    }
  }

  /** Throws it, where a value may be asked for. */
  public static Object raise(Throwable failure) throws IOException {
    if (failure instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    throw (IOException) failure;
  }

  /** A failure as its user sees it, with its causes and where it came from. */
  public static String trace(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  /** One thing to do. */
  @FunctionalInterface
  public interface Action {
    /** Does it. */
    void run() throws IOException;
  }
}
