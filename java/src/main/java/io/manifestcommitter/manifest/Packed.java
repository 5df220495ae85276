// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.Inflater;

/** Bytes in small: deflated, and names by what they have in common with the one before. */
public final class Packed {
  private static final int BUFFER = 16 << 10;

  private Packed() {}

  /**
   * Deflates.
   *
   * @param level one of {@link Deflater}'s
   */
  public static byte[] deflate(byte[] plain, int level) {
    Deflater deflater = new Deflater(level, /* nowrap= */ true);
    ByteArrayOutputStream packed = new ByteArrayOutputStream(plain.length / 4 + 64);
    try (OutputStream out = new DeflaterOutputStream(packed, deflater, BUFFER)) {
      out.write(plain);
    } catch (IOException e) {
      throw new UncheckedIOException("Writing to memory failed", e);
    } finally {
      deflater.end();
    }
    return packed.toByteArray();
  }

  /**
   * Inflates what begins at {@code from} and goes to the end.
   *
   * @param length how many bytes it was
   * @throws IOException if it is not that, to the last byte
   */
  public static byte[] inflate(byte[] packed, int from, int length) throws IOException {
    Inflater inflater = new Inflater(/* nowrap= */ true);
    try {
      inflater.setInput(packed, from, packed.length - from);
      byte[] plain = new byte[length];
      int done = 0;
      while (done < length) {
        int more = inflater.inflate(plain, done, length - done);
        if (more == 0) {
          throw new IOException("it ends after " + done + " of " + length + " bytes");
        }
        done += more;
      }
      if (inflater.inflate(new byte[1]) != 0 || inflater.getRemaining() > 0) {
        throw new IOException("it goes on after its " + length + " bytes");
      }
      return plain;
    } catch (DataFormatException e) {
      throw new IOException(e);
    } finally {
      inflater.end();
    }
  }

  /** How many characters a text has in common with the one before; never half of one. */
  public static int shared(String before, String text) {
    int most = Math.min(before.length(), text.length());
    int shared = 0;
    while (shared < most && before.charAt(shared) == text.charAt(shared)) {
      shared++;
    }
    boolean isHalf = shared > 0 && Character.isHighSurrogate(text.charAt(shared - 1));
    return isHalf ? shared - 1 : shared;
  }
}
