// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipException;

/**
 * A file of records: JSON lines in gzip, the last of which tells how many there are and a CRC-32C
 * of the lines before it, without the last line end. Neither side holds more than one of them.
 */
public final class RecordFile {
  private static final String END = "end";
  private static final String COUNT = "records";
  private static final String CHECKSUM = "checksum";
  private static final int BUFFER = 1 << 16;

  private RecordFile() {}

  /** Eight lower case hexadecimal digits. */
  static String hex(CRC32C checksum) {
    return String.format(Locale.ROOT, "%08x", checksum.getValue());
  }

  public static void writeOnly(OutputStream out, Record record) throws IOException {
    Writer records = new Writer(out);
    records.write(record);
    records.finish();
  }

  /**
   * What the only record of a file says.
   *
   * @param origin names the file in messages
   * @param meaning understands the record, or throws an {@link IllegalArgumentException}
   * @throws CorruptManifestException if it is damaged, not understood, or not the only one
   */
  public static <T> T readOnly(byte[] content, String origin, Function<Record, T> meaning)
      throws IOException {
    try (Reader records = new Reader(new ByteArrayInputStream(content), origin)) {
      Record only = records.next().orElseThrow(() -> records.corrupt("it is empty", null));
      // Its end has the checksum.
      if (records.next().isPresent()) {
        throw records.corrupt("it has more than one record", null);
      }
      try {
        return meaning.apply(only);
      } catch (IllegalArgumentException e) {
        throw records.corrupt(e.getMessage(), e);
      }
    }
  }

  /** Writes records. Not for use by several threads. */
  public static final class Writer {
    private final CRC32C checksum = new CRC32C();
    private final OutputStream out;
    private final Gzip gzip;
    private final JsonGenerator json;
    private long count;

    /** Writes to {@code out}, which stays open. */
    public Writer(OutputStream out) throws IOException {
      this.out = out;
      this.gzip = new Gzip(out);
      // The separators between the lines come from the generator, so the checksum knows of them.
      this.json = Record.MAPPER.createGenerator(new CheckedOutputStream(gzip, checksum));
    }

    public void write(Record record) throws IOException {
      Record.MAPPER.writeValue(json, record.fields);
      count++;
    }

    /** Writes the last record, and the end. */
    public void finish() throws IOException {
      json.flush();
      write(new Record(END).with(COUNT, count).with(CHECKSUM, hex(checksum)));
      finishLines();
    }

    /** Writes the end of lines without a last record. */
    void finishLines() throws IOException {
      json.close();
      gzip.write('\n');
      gzip.finish();
      out.flush();
    }
  }

  public static final class Reader implements Closeable {
    private final Lines lines;
    private final String origin;
    private final CRC32C checksum = new CRC32C();
    private boolean ended;

    /**
     * Reads a file.
     *
     * @param in closed with the reader, and if this fails
     * @param origin names the file in messages
     * @throws CorruptManifestException if it does not begin as one
     */
    public Reader(InputStream in, String origin) throws IOException {
      this.origin = origin;
      this.lines = new Lines(in, name -> true, this::corrupt);
    }

    /**
     * The next record, nothing after the last.
     *
     * @throws CorruptManifestException if it is damaged, or cut short
     */
    public Optional<Record> next() throws IOException {
      Optional<Record> next = lines.next();
      if (ended && next.isPresent()) {
        throw corrupt("something follows its end", null);
      }
      if (ended) {
        return next;
      }
      if (!next.isPresent()) {
        throw corrupt("it is cut short", null).cutShort();
      }
      Record record = next.get();
      try {
        if (!record.kind().equals(END)) {
          checksum.update(
              (lines.count == 1 ? "" : "\n").concat(lines.line).getBytes(StandardCharsets.UTF_8));
          return next;
        }
        if (record.number(COUNT) != lines.count - 1
            || !record.text(CHECKSUM).equals(hex(checksum))) {
          throw corrupt("its checksum does not match", null);
        }
      } catch (IllegalArgumentException e) {
        throw corrupt("record " + lines.count + ": " + e.getMessage(), e);
      }
      ended = true;
      return next();
    }

    @Override
    public void close() throws IOException {
      lines.close();
    }

    /** What is wrong with the file, for a caller who understands more of it. */
    public CorruptManifestException corrupt(String why, Exception cause) {
      return new CorruptManifestException(
          origin + " cannot be used: " + Record.shortened(why), cause);
    }
  }

  /** The lines of a compressed text, one by one, none of them endless. */
  static final class Lines implements Closeable {
    /**
     * Longer than any line: a path of HDFS has 8,000 characters at most, one of ADLS or GCS fewer.
     */
    private static final int MAX_LINE = 1 << 20;

    private final Predicate<String> asked;
    private final BiFunction<String, Exception, CorruptManifestException> corrupt;
    private final java.io.Reader text;
    private String line;
    private long count;

    /**
     * Begins to read.
     *
     * @param in closed with the lines, and if this fails
     * @param asked the names of the fields to read
     * @param corrupt what is thrown for a damaged text, by its reason and its cause
     */
    Lines(
        InputStream in,
        Predicate<String> asked,
        BiFunction<String, Exception, CorruptManifestException> corrupt)
        throws IOException {
      this.asked = asked;
      this.corrupt = corrupt;
      try {
        this.text =
            new BufferedReader(
                new InputStreamReader(new GZIPInputStream(in, BUFFER), Record.strictUtf8()));
      } catch (IOException e) {
        in.close();
        throw explained(e);
      }
    }

    /** The next line, nothing after the last. */
    Optional<Record> next() throws IOException {
      StringBuilder read = new StringBuilder();
      try {
        int c = text.read();
        while (c >= 0 && c != '\n') {
          if (read.length() == MAX_LINE) {
            throw corrupt.apply("a line has more than " + MAX_LINE + " characters", null);
          }
          read.append((char) c);
          c = text.read();
        }
        if (c < 0 && read.length() == 0) {
          return Optional.empty();
        }
      } catch (IOException e) {
        throw explained(e);
      }
      line = read.toString();
      count++;
      try {
        return Optional.of(Record.read(new StringReader(line), asked, Map.of()));
      } catch (IllegalArgumentException e) {
        throw corrupt.apply("line " + count + ": " + e.getMessage(), e);
      }
    }

    @Override
    public void close() throws IOException {
      text.close();
    }

    /** What is wrong with the text, if the failure says that something is. */
    private IOException explained(IOException failure) {
      if (failure instanceof EOFException) {
        return corrupt.apply("it is cut short", failure).cutShort();
      }
      if (failure instanceof ZipException) {
        return corrupt.apply(failure.getMessage(), failure);
      }
      return failure instanceof CharacterCodingException
          ? corrupt.apply("it is not UTF-8", failure)
          : failure;
    }
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
