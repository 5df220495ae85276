// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import io.manifestcommitter.manifest.JsonReader.BadJsonException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * A file of records: JSON lines in gzip, the last of which tells how many there are and a CRC-32C
 * of the lines before it, without the last line end. Neither side holds more than one of them.
 */
public final class RecordFile {
  private static final String END = "end";
  private static final String COUNT = "records";
  private static final String CHECKSUM = "checksum";

  private RecordFile() {}

  /** Writes records. */
  public static final class Writer {
    private final JsonLines.Writer lines;
    private long count;

    /** Writes to {@code out}, which stays open. */
    public Writer(OutputStream out) throws IOException {
      this.lines = new JsonLines.Writer(out);
    }

    /** Writes one record. */
    public void write(Record record) throws IOException {
      begin(record.kind());
      for (Map.Entry<String, Object> field : record.fields().entrySet()) {
        if (field.getValue() instanceof Long) {
          with(field.getKey(), (Long) field.getValue());
        } else if (!field.getKey().equals(Record.KIND)) {
          with(field.getKey(), (String) field.getValue());
        }
      }
      end();
    }

    /**
     * Begins a record, whose fields follow until its {@link #end}: for those of which many come.
     */
    public Writer begin(String kind) throws IOException {
      count++;
      lines.json().writeStartObject();
      return with(Record.KIND, kind);
    }

    /** Adds a text to the record that has begun. */
    public Writer with(String name, String text) throws IOException {
      lines.json().writeStringField(name, Text.requireWellFormed(text));
      return this;
    }

    /** Adds a number to the record that has begun. */
    public Writer with(String name, long number) throws IOException {
      lines.json().writeNumberField(name, number);
      return this;
    }

    /** Ends the record that has begun. */
    public void end() throws IOException {
      lines.json().writeEndObject();
    }

    /** Writes the end. */
    public void finish() throws IOException {
      write(new Record(END).with(COUNT, count).with(CHECKSUM, lines.checksum()));
      lines.finish();
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
     * @throws CorruptManifestException if it is damaged, or cut short
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
        throw corrupt("it is cut short", null).cutShort();
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
        if (end.number(COUNT) != count || !end.text(CHECKSUM).equals(JsonLines.hex(checksum))) {
          throw corrupt("its checksum does not match", null);
        }
      } catch (IllegalArgumentException e) {
        throw corrupt(e.getMessage(), e);
      }
    }

    private Record parse(String line) throws CorruptManifestException {
      try {
        return JsonReader.read(
            new StringReader(line),
            name -> true,
            Map.of(),
            record -> {
              record.kind();
              return record;
            });
      } catch (BadJsonException e) {
        throw corrupt("record " + (count + 1) + ": " + e.getMessage(), e);
      }
    }
  }
}
