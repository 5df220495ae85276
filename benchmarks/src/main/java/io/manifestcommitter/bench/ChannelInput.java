// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.apache.hadoop.fs.FSInputStream;

/** A part of a local file as an open file of a Hadoop filesystem. */
final class ChannelInput extends FSInputStream {
  /** The JDK copies each read through memory outside the heap, as large as the read. */
  private static final int MOST_AT_ONCE = 1 << 16;

  private final FileChannel channel;
  private final long start;
  private final long length;
  private final Ending ending;
  private long position;

  /** What closing the stream does to the channel. */
  enum Ending {
    CLOSES,
    KEEPS_OPEN
  }

  ChannelInput(FileChannel channel, long start, long length, Ending ending) {
    this.channel = channel;
    this.start = start;
    this.length = length;
    this.ending = ending;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] buffer, int offset, int most) throws IOException {
    if (most == 0) {
      return 0;
    }
    int wanted = (int) Math.min(Math.min(most, MOST_AT_ONCE), length - position);
    int count =
        wanted <= 0 ? -1 : channel.read(ByteBuffer.wrap(buffer, offset, wanted), start + position);
    position += Math.max(0, count);
    return count;
  }

  @Override
  public int available() {
    return (int) Math.min(Integer.MAX_VALUE, length - position);
  }

  @Override
  public void seek(long target) throws IOException {
    if (target < 0 || target > length) {
      throw new EOFException("position " + target + " of " + length);
    }
    position = target;
  }

  @Override
  public long getPos() {
    return position;
  }

  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public void close() throws IOException {
    if (ending == Ending.CLOSES) {
      channel.close();
    }
  }
}
