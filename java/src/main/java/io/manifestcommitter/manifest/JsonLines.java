// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.util.Optional;
import java.util.function.Function;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/** The lines of a compressed text, one by one, none of them endless. */
final class JsonLines implements Closeable {
  /**
   * Longer than any line: a path of HDFS has 8,000 characters at most, one of ADLS or GCS fewer.
   */
  private static final int MAX_LINE = 1 << 20;

  private final Reader lines;
  private final Function<String, CorruptManifestException> corrupt;

  private JsonLines(Reader lines, Function<String, CorruptManifestException> corrupt) {
    this.lines = lines;
    this.corrupt = corrupt;
  }

  /**
   * Begins to read.
   *
   * @param in closed with the lines, and if this fails
   * @param corrupt what is thrown for a damaged text, by its reason
   */
  static JsonLines read(InputStream in, Function<String, CorruptManifestException> corrupt)
      throws IOException {
    try {
      return new JsonLines(
          new BufferedReader(
              new InputStreamReader(new GZIPInputStream(in, 1 << 16), JsonReader.strictUtf8())),
          corrupt);
    } catch (EOFException e) {
      in.close();
      throw withCause(cutShort(corrupt), e);
    } catch (ZipException e) {
      in.close();
      throw withCause(corrupt.apply(e.getMessage()), e);
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /** The next line, nothing after the last. */
  Optional<String> next() throws IOException {
    StringBuilder line = new StringBuilder();
    try {
      int c = lines.read();
      while (c >= 0 && c != '\n') {
        if (line.length() == MAX_LINE) {
          throw corrupt.apply("a line has more than " + MAX_LINE + " characters");
        }
        line.append((char) c);
        c = lines.read();
      }
      return c < 0 && line.length() == 0 ? Optional.empty() : Optional.of(line.toString());
    } catch (EOFException e) {
      throw withCause(cutShort(corrupt), e);
    } catch (ZipException e) {
      throw withCause(corrupt.apply(e.getMessage()), e);
    } catch (CharacterCodingException e) {
      throw withCause(corrupt.apply("it is not UTF-8"), e);
    }
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }

  private static CutShortException cutShort(Function<String, CorruptManifestException> corrupt) {
    return new CutShortException(corrupt.apply("it is cut short"));
  }

  private static CorruptManifestException withCause(
      CorruptManifestException failure, IOException cause) {
    failure.addSuppressed(cause);
    return failure;
  }
}
