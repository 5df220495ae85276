// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipException;

/** The lines of a compressed text, one by one, none of them endless. */
final class JsonLines implements Closeable {
  /**
   * Longer than any line: a path of HDFS has 8,000 characters at most, one of ADLS or GCS fewer.
   */
  private static final int MAX_LINE = 1 << 20;

  private static final int BUFFER = 1 << 16;

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
              new InputStreamReader(new GZIPInputStream(in, BUFFER), JsonReader.strictUtf8())),
          corrupt);
    } catch (IOException e) {
      in.close();
      throw explained(e, corrupt);
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
    } catch (IOException e) {
      throw explained(e, corrupt);
    }
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }

  /** What is wrong with the text, if the failure says that something is. */
  private static IOException explained(
      IOException failure, Function<String, CorruptManifestException> corrupt) {
    IOException explained;
    if (failure instanceof EOFException) {
      explained = corrupt.apply("it is cut short").cutShort();
    } else if (failure instanceof ZipException) {
      explained = corrupt.apply(failure.getMessage());
    } else if (failure instanceof CharacterCodingException) {
      explained = corrupt.apply("it is not UTF-8");
    } else {
      return failure;
    }
    explained.addSuppressed(failure);
    return explained;
  }

  /**
   * Writes lines. Between them there is a line end, of which the checksum knows. Not for use by
   * several threads.
   */
  static final class Writer {
    private static final JsonFactory FACTORY =
        new JsonFactoryBuilder()
            .rootValueSeparator("\n")
            .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
            .disable(StreamWriteFeature.FLUSH_PASSED_TO_STREAM)
            .build();

    private final CRC32C checksum = new CRC32C();
    private final OutputStream out;
    private final Gzip gzip;
    private final JsonGenerator json;

    /** Writes to {@code out}, which stays open. */
    Writer(OutputStream out) throws IOException {
      this.out = out;
      this.gzip = new Gzip(out);
      this.json = FACTORY.createGenerator(new CheckedOutputStream(gzip, checksum));
    }

    /** Takes the lines, each an object. */
    JsonGenerator json() {
      return json;
    }

    /** Of the lines so far, without the last line end. */
    String checksum() throws IOException {
      json.flush();
      return hex(checksum);
    }

    /** Writes the end. */
    void finish() throws IOException {
      json.close();
      gzip.write('\n');
      gzip.finish();
      out.flush();
    }
  }

  /** Eight lower case hexadecimal digits. */
  static String hex(CRC32C checksum) {
    return String.format(Locale.ROOT, "%08x", checksum.getValue());
  }

  /**
   * Gzip at the fastest level: the names of a job's files have so much in common that others gain
   * little, and take three times as long.
   */
  private static final class Gzip extends GZIPOutputStream {
    Gzip(OutputStream out) throws IOException {
      super(out, BUFFER);
      def.setLevel(Deflater.BEST_SPEED);
    }
  }
}
