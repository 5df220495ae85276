// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import org.apache.hadoop.fs.Abortable;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;

/** An open file of a store in memory. */
public final class SeekableBytes extends ByteArrayInputStream
    implements Seekable, PositionedReadable {
  /** Of this content. */
  public SeekableBytes(byte[] content) {
    super(content);
  }

  @Override
  public void seek(long position) throws IOException {
    if (position < 0 || position > count) {
      throw new EOFException("position " + position + " of " + count);
    }
    pos = (int) position;
  }

  @Override
  public long getPos() {
    return pos;
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public int read(long position, byte[] buffer, int offset, int length) {
    if (position >= count) {
      return -1;
    }
    int most = Math.min(length, count - (int) position);
    System.arraycopy(buf, (int) position, buffer, offset, most);
    return most;
  }

  @Override
  public void readFully(long position, byte[] buffer, int offset, int length) throws IOException {
    if (length > 0 && read(position, buffer, offset, length) < length) {
      throw new EOFException("the file has " + count + " bytes");
    }
  }

  @Override
  public void readFully(long position, byte[] buffer) throws IOException {
    readFully(position, buffer, 0, buffer.length);
  }

  /** What is written to a new file, which is there once it is closed, and not if it was aborted. */
  static final class AbortableBytes extends ByteArrayOutputStream implements Abortable {
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
}
