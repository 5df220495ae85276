// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.MD5Hash;

/** The upload of a file on the executor's disk, which is read in pieces. */
public abstract class LocalUpload implements FileUpload {
  /** What S3 takes ("Amazon S3 multipart upload limits"). */
  protected static final int MOST_PARTS = 10_000;

  /** What S3 takes, too; the last part may be smaller. */
  private static final long LEAST_PART_SIZE = 5L << 20;

  private static final String PART_SIZE = "fs.s3a.multipart.size";
  private static final long DEFAULT_PART_SIZE = 64L << 20;
  private static final int BUFFER = 64 << 10;

  protected final Path destination;

  /** In bytes, as the user wants the parts of uploads; what S3 takes if that is more. */
  protected final long partSize;

  private final File file;

  /**
   * Of a file; no request.
   *
   * @param destination where readers will see it
   */
  protected LocalUpload(File file, Path destination, Configuration conf) {
    this.file = file;
    this.destination = destination;
    this.partSize = Math.max(LEAST_PART_SIZE, conf.getLongBytes(PART_SIZE, DEFAULT_PART_SIZE));
  }

  @Override
  public final Path path() {
    return new Path(file.toURI());
  }

  @Override
  public final boolean isWritten() {
    return file.exists();
  }

  @Override
  public final StoreEntry finish() throws IOException {
    try {
      long length = length();
      return StoreEntry.file(destination, length, upload(length), 0);
    } catch (IOException | RuntimeException | Error e) {
      try {
        abort();
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  /**
   * Uploads the rest of the file.
   *
   * @return what {@link #finish} gives as its etag
   */
  protected abstract String upload(long length) throws IOException;

  protected final long length() {
    return file.length();
  }

  /** Refuses a file of another length than it had. */
  protected final void requireLength(long length) throws IOException {
    if (file.length() != length) {
      throw new IOException(file + " was written to while it was uploaded");
    }
  }

  /** What follows a position. */
  protected final InputStream at(long from) throws IOException {
    FileInputStream in = new FileInputStream(file);
    try {
      in.getChannel().position(from);
      return in;
    } catch (IOException e) {
      in.close();
      throw e;
    }
  }

  /** The MD5 of a piece. */
  protected final byte[] hash(long from, long length) throws IOException {
    MessageDigest digest = MD5Hash.getDigester();
    byte[] buffer = new byte[BUFFER];
    try (InputStream in = at(from)) {
      for (long left = length; left > 0; ) {
        int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
        if (read < 0) {
          throw new IOException(file + " ended while it was uploaded");
        }
        digest.update(buffer, 0, read);
        left -= read;
      }
    }
    return digest.digest();
  }
}
