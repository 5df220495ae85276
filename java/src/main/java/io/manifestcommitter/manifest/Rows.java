// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;

/**
 * Rows of texts and numbers in few bytes. Of a text is kept what it does not share, at either end,
 * with the one before in its column; a number takes as many bytes as it needs. So a file of a job,
 * whose name and etag differ in some digits from those of its neighbour, takes about 30 bytes.
 */
public final class Rows {
  private static final int BUFFER = 16 << 10;

  private Rows() {}

  /** Deflates rows that go over a wire. */
  public static byte[] deflate(byte[] plain) {
    Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, /* nowrap= */ true);
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
    ByteArrayInputStream rest = new ByteArrayInputStream(packed, from, packed.length - from);
    try (InputStream in = new InflaterInputStream(rest, inflater, BUFFER)) {
      byte[] plain = in.readNBytes(length);
      boolean isAll = plain.length == length && in.read() < 0;
      if (!isAll || inflater.getRemaining() > 0 || rest.available() > 0) {
        throw new IOException("it does not end after its " + length + " bytes");
      }
      return plain;
    } finally {
      inflater.end();
    }
  }

  /** Writes rows. Not for use by several threads. */
  public static final class Writer {
    private final String[] before;
    private byte[] bytes;
    private int length;

    /**
     * No rows yet.
     *
     * @param columns how many columns of texts there are
     * @param room for so many bytes at first
     */
    public Writer(int columns, int room) {
      this.before = new String[columns];
      this.bytes = new byte[room];
      reset();
    }

    /**
     * Adds a text to a column.
     *
     * @throws IllegalArgumentException if it has half a surrogate pair
     */
    public Writer text(int column, String text) {
      String last = before[column];
      int prefix = sharedStart(last, text);
      int suffix = sharedEnd(last, text, prefix);
      before[column] = text;
      number(prefix);
      number(suffix);
      // The rest is whole characters of a text that was looked at before.
      return plain(PathText.requireWellFormed(text.substring(prefix, text.length() - suffix)));
    }

    /** Adds a text that has nothing in common with others. */
    public Writer plain(String text) {
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      number(utf8.length);
      require(utf8.length);
      System.arraycopy(utf8, 0, bytes, length, utf8.length);
      length += utf8.length;
      return this;
    }

    /** Adds a number; one that is 0 or greater takes as many bytes as it needs. */
    public Writer number(long number) {
      require(Long.BYTES + 2);
      long rest = number;
      while (rest < 0 || rest > 0x7f) {
        bytes[length++] = (byte) ((rest & 0x7f) | 0x80);
        rest >>>= 7;
      }
      bytes[length++] = (byte) rest;
      return this;
    }

    public int length() {
      return length;
    }

    /** The bytes so far; what follows begins anew. */
    public byte[] take() {
      byte[] taken = Arrays.copyOf(bytes, length);
      reset();
      return taken;
    }

    private void reset() {
      Arrays.fill(before, "");
      length = 0;
    }

    private void require(int more) {
      if (more > bytes.length - length) {
        bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, Math.addExact(length, more)));
      }
    }

    /** How many characters two texts share at their beginning, never half of one. */
    private static int sharedStart(String one, String other) {
      int most = Math.min(one.length(), other.length());
      int shared = 0;
      while (shared < most && one.charAt(shared) == other.charAt(shared)) {
        shared++;
      }
      boolean isHalf = shared > 0 && Character.isHighSurrogate(other.charAt(shared - 1));
      return isHalf ? shared - 1 : shared;
    }

    /**
     * How many characters after a shared beginning two texts share at their end, never half of one.
     */
    private static int sharedEnd(String one, String other, int prefix) {
      int most = Math.min(one.length(), other.length()) - prefix;
      int shared = 0;
      while (shared < most
          && one.charAt(one.length() - 1 - shared) == other.charAt(other.length() - 1 - shared)) {
        shared++;
      }
      boolean isHalf =
          shared > 0 && Character.isLowSurrogate(other.charAt(other.length() - shared));
      return isHalf ? shared - 1 : shared;
    }
  }

  /** Reads rows as they were written. Not for use by several threads. */
  public static final class Reader {
    private final String[] before;
    private final byte[] bytes;
    private int position;

    public Reader(int columns, byte[] bytes) {
      this.before = new String[columns];
      Arrays.fill(before, "");
      this.bytes = bytes;
    }

    public boolean hasMore() {
      return position < bytes.length;
    }

    /** The next text of a column. */
    public String text(int column) {
      int prefix = (int) number();
      int suffix = (int) number();
      String middle = plain();
      String last = before[column];
      boolean isSame = middle.isEmpty() && suffix == 0 && prefix == last.length();
      if (!isSame) {
        before[column] =
            last.substring(0, prefix) + middle + last.substring(last.length() - suffix);
      }
      return before[column];
    }

    /** The next text that has nothing in common with others. */
    public String plain() {
      int length = (int) number();
      if (length == 0) {
        return "";
      }
      String text = new String(bytes, position, length, StandardCharsets.UTF_8);
      position += length;
      return text;
    }

    public long number() {
      long number = 0;
      for (int shift = 0; ; shift += 7) {
        byte next = bytes[position++];
        number |= (next & 0x7fL) << shift;
        if (next >= 0) {
          return number;
        }
      }
    }
  }
}
