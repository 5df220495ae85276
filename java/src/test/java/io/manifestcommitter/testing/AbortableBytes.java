// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.hadoop.fs.Abortable;

/** What is written to a new file, which is there once it is closed, and not if it was aborted. */
final class AbortableBytes extends ByteArrayOutputStream implements Abortable {
  private final End end;
  private boolean ended;

  AbortableBytes(End end) {
    this.end = end;
  }

  /** Makes the file. */
  interface End {
    void close(byte[] content) throws IOException;
  }

  @Override
  public void close() throws IOException {
    if (!ended) {
      ended = true;
      end.close(toByteArray());
    }
  }

  @Override
  public AbortableResult abort() {
    boolean wasEnded = ended;
    ended = true;
    return new AbortableResult() {
      @Override
      public boolean alreadyClosed() {
        return wasEnded;
      }

      @Override
      public IOException anyCleanupException() {
        return null;
      }
    };
  }
}
