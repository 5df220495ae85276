// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.JsonToken;
import io.manifestcommitter.manifest.JsonReader.BadJsonException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;

/**
 * A file of records: JSON lines in gzip, the last of which tells how many there are and a CRC-32C
 * of the lines before it, without the last line end. Neither side holds more than one of them.
 */
public final class RecordFile {
  private static final String END = "end";
  private static final String COUNT = "records";
  private static final String CHECKSUM = "checksum";

  private RecordFile() {}

  private static String hex(CRC32C checksum) {
    return String.format(Locale.ROOT, "%08x", checksum.getValue());
  }

  /** Writes records. */
  public static final class Writer {
    private final OutputStream out;
    private final FastGzip gzip;
    private final JsonLineWriter json;
    private final CRC32C checksum = new CRC32C();
    private long count;

    /** Writes to {@code out}, which stays open. */
    public Writer(OutputStream out) throws IOException {
      this.out = out;
      this.gzip = new FastGzip(out);
      this.json = new JsonLineWriter(new CheckedOutputStream(gzip, checksum));
    }

    /** Writes one record. */
    public void write(Record record) throws IOException {
      begin(record.kind());
      for (Map.Entry<String, String> text : record.texts().entrySet()) {
        if (!text.getKey().equals(Record.KIND)) {
          with(text.getKey(), text.getValue());
        }
      }
      for (Map.Entry<String, Long> number : record.numbers().entrySet()) {
        with(number.getKey(), number.getValue());
      }
      end();
    }

    /**
     * Begins a record, whose fields follow until its {@link #end}: for those of which many come.
     */
    public Writer begin(String kind) throws IOException {
      count++;
      json.begin();
      return with(Record.KIND, kind);
    }

    /** Adds a text to the record that has begun. */
    public Writer with(String name, String text) throws IOException {
      json.text(name, text);
      return this;
    }

    /** Adds a number to the record that has begun. */
    public Writer with(String name, long number) throws IOException {
      json.number(name, number);
      return this;
    }

    /** Ends the record that has begun. */
    public void end() throws IOException {
      json.end();
    }

    /** Writes the end. */
    public void finish() throws IOException {
      json.flush();
      write(new Record(END).with(COUNT, count).with(CHECKSUM, hex(checksum)));
      json.flush();
      gzip.write('\n');
      gzip.finish();
      out.flush();
    }
  }

  /** Reads records. */
  public static final class Reader implements Closeable {
    private final JsonLines lines;
    private final String origin;
    private final CRC32C checksum = new CRC32C();
    private long count;
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
      this.lines = JsonLines.read(in, why -> corrupt(why, null));
    }

    /**
     * The next record, nothing after the last.
     *
     * @throws CutShortException if the file is cut short
     * @throws CorruptManifestException if it is damaged
     */
    public Optional<Record> next() throws IOException {
      Optional<String> line = lines.next();
      if (ended && line.isPresent()) {
        throw corrupt("something follows its end", null);
      }
      if (ended) {
        return Optional.empty();
      }
      if (!line.isPresent()) {
        throw new CutShortException(corrupt("it is cut short", null));
      }
      Record record = parse(line.get());
      if (record.kind().equals(END)) {
        requireComplete(record);
        ended = true;
        return next();
      }
      if (count > 0) {
        checksum.update('\n');
      }
      checksum.update(line.get().getBytes(StandardCharsets.UTF_8));
      count++;
      return Optional.of(record);
    }

    @Override
    public void close() throws IOException {
      lines.close();
    }

    /** What is wrong with the file, for a caller who understands more of it. */
    public CorruptManifestException corrupt(String why, Exception cause) {
      return new CorruptManifestException(
          origin + " cannot be used: " + Text.shortened(why), cause);
    }

    private void requireComplete(Record end) throws CorruptManifestException {
      try {
        if (end.number(COUNT) != count || !end.text(CHECKSUM).equals(hex(checksum))) {
          throw corrupt("its checksum does not match", null);
        }
      } catch (IllegalArgumentException e) {
        throw corrupt(e.getMessage(), e);
      }
    }

    private Record parse(String line) throws CorruptManifestException {
      try {
        return JsonReader.read(new StringReader(line), Reader::record);
      } catch (BadJsonException e) {
        throw corrupt("record " + (count + 1) + ": " + e.getMessage(), e);
      }
    }

    private static Record record(JsonReader json) throws IOException {
      Map<String, String> texts = new TreeMap<>();
      Map<String, Long> numbers = new TreeMap<>();
      json.object(
          name -> {
            if (json.isAt(JsonToken.VALUE_STRING)) {
              texts.put(name, json.string());
            } else {
              numbers.put(name, json.longNumber());
            }
            return true;
          });
      return new Record(texts, numbers).requireKind();
    }
  }
}
