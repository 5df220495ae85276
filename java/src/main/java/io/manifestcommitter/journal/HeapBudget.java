// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import java.io.IOException;
import org.apache.hadoop.fs.Path;

/**
 * Counts, roughly, what a plan or note that is read keeps in memory. The file that it is read from
 * is not trusted: it may be small where its content is not.
 */
public final class HeapBudget {
  /** Of a file: a hash, and a place in an index of names. */
  private static final int FILE = 64;

  /** Of a path, besides its text: the objects around it, and its places in sets. */
  private static final int PATH = 300;

  private static final int COPIES = 3;

  private final String origin;
  private final long most;
  private long used;

  /**
   * A budget.
   *
   * @param heap the bytes that the JVM can have, of which some are left for everything else
   * @param origin names the file in messages
   */
  public HeapBudget(long heap, String origin) {
    this.most = heap / 4 * 3;
    this.origin = origin;
  }

  /** Counts a file of the plan. */
  public void file() throws IOException {
    take(FILE);
  }

  /** Counts a path that is kept. */
  public void path(Path path) throws IOException {
    take(PATH + (long) COPIES * path.toUri().getPath().length());
  }

  private void take(long bytes) throws IOException {
    used += bytes;
    if (used > most) {
      throw tooSmall(origin);
    }
  }

  /** What is thrown when a plan is too large for this JVM. */
  public static IOException tooSmall(String origin) {
    return new IOException(
        origin
            + " needs more memory than this JVM has. Nothing was changed: run this again with a"
            + " larger heap, such as JAVA_TOOL_OPTIONS=-Xmx8g");
  }
}
