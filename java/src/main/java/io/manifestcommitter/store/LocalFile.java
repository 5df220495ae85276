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

/** A file on the executor's disk, which is read in pieces to be uploaded. */
public final class LocalFile {
  /** What S3 takes ("Amazon S3 multipart upload limits"). */
  public static final int MOST_PARTS = 10_000;

  /** What S3 takes, too; the last part may be smaller. */
  private static final long LEAST_PART_SIZE = 5L << 20;

  private static final String PART_SIZE = "fs.s3a.multipart.size";
  private static final long DEFAULT_PART_SIZE = 64L << 20;
  private static final int BUFFER = 64 << 10;

  private final File file;

  public LocalFile(File file) {
    this.file = file;
  }

  /** In bytes, as the user wants the parts of uploads; what S3 takes if that is more. */
  public static long partSize(Configuration conf) {
    return Math.max(LEAST_PART_SIZE, conf.getLongBytes(PART_SIZE, DEFAULT_PART_SIZE));
  }

  /** How its writer calls it. */
  public Path path() {
    return new Path(file.toURI());
  }

  public boolean exists() {
    return file.exists();
  }

  public long length() {
    return file.length();
  }

  /** Refuses a file of another length than it had. */
  public void requireLength(long length) throws IOException {
    if (file.length() != length) {
      throw new IOException(file + " was written to while it was uploaded");
    }
  }

  /** What follows a position. */
  public InputStream at(long from) throws IOException {
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
  public byte[] hash(long from, long length) throws IOException {
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
