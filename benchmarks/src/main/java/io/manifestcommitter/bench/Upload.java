// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** A file that is being written: nobody sees its content before it is closed. */
final class Upload extends FilterOutputStream {
  private final Publishing publishing;
  private boolean closed;

  /**
   * An upload.
   *
   * @param content gets what is written
   * @param publishing done once, after {@code content} is closed
   */
  Upload(OutputStream content, Publishing publishing) {
    super(content);
    this.publishing = publishing;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    out.write(bytes, offset, length);
  }

  @Override
  public void close() throws IOException {
    if (!closed) {
      closed = true;
      super.close();
      publishing.run();
    }
  }

  /** Makes the content visible. */
  interface Publishing {
    /** Does it. */
    void run() throws IOException;
  }
}
