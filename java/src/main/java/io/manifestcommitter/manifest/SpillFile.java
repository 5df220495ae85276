// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A local file for what does not fit into memory, in the JVM's directory for temporary files; made
 * when it is first needed, gone when it is closed or the JVM ends. May be read by many threads.
 */
final class SpillFile implements Closeable {
  private Path path;
  private FileChannel channel;

  /** Appends, and says from where on it can be read. */
  synchronized long append(byte[] content) throws IOException {
    if (channel == null) {
      path =
          Files.createTempFile(
              "manifest-committer-" + ProcessHandle.current().pid() + "-", ".files");
      channel =
          FileChannel.open(
              path,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE,
              StandardOpenOption.DELETE_ON_CLOSE);
    }
    long position = channel.size();
    ByteBuffer rest = ByteBuffer.wrap(content);
    while (rest.hasRemaining()) {
      channel.write(rest, position + rest.position());
    }
    return position;
  }

  /** Reads what was appended. */
  synchronized byte[] read(long position, int length) throws IOException {
    ByteBuffer content = ByteBuffer.allocate(length);
    while (content.hasRemaining()) {
      if (channel.read(content, position + content.position()) < 0) {
        throw new EOFException(path + " was cut short by another program");
      }
    }
    return content.array();
  }

  @Override
  public synchronized void close() throws IOException {
    if (channel != null) {
      channel.close();
    }
  }

  @Override
  public synchronized String toString() {
    return path == null ? "memory" : path.toString();
  }
}
