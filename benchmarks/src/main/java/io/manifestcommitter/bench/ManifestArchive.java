// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The manifests of a job in one file on the local disk, so that no heap holds them and none has to
 * make them while a commit is measured.
 */
final class ManifestArchive implements Closeable {
  private static final String CONTENT = "manifests.json";
  private static final String INDEX = "manifests.index";

  private final FileChannel content;
  private final ByteBuffer ends;

  /** Opens what {@link #write} wrote. */
  ManifestArchive(Path directory) throws IOException {
    this.content = FileChannel.open(directory.resolve(CONTENT), StandardOpenOption.READ);
    byte[] index = Files.readAllBytes(directory.resolve(INDEX));
    this.ends = ByteBuffer.allocateDirect(index.length);
    ends.put(index).flip();
  }

  /** Writes the manifests of all tasks of a job; returns how many bytes they have. */
  static long write(ScaleJob job, Path directory) throws IOException {
    long end = 0;
    try (OutputStream json =
            new BufferedOutputStream(Files.newOutputStream(directory.resolve(CONTENT)), 1 << 16);
        DataOutputStream index =
            new DataOutputStream(
                new BufferedOutputStream(Files.newOutputStream(directory.resolve(INDEX))))) {
      for (int task = 0; task < job.shape().tasks(); task++) {
        byte[] manifest = job.manifest(task).toJson();
        json.write(manifest);
        end += manifest.length;
        index.writeLong(end);
      }
    }
    return end;
  }

  /** The length of the manifest of a task, in bytes. */
  long length(int task) {
    return end(task) - start(task);
  }

  /** The manifest of a task. */
  ChannelInput open(int task) {
    return new ChannelInput(content, start(task), length(task), ChannelInput.Ending.KEEPS_OPEN);
  }

  @Override
  public void close() throws IOException {
    content.close();
  }

  private long start(int task) {
    return task == 0 ? 0 : end(task - 1);
  }

  private long end(int task) {
    return ends.getLong(task * Long.BYTES);
  }
}
