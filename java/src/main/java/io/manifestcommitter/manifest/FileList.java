// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.JsonGenerator;
import io.manifestcommitter.manifest.JsonReader.BadJsonException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringReader;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.hadoop.fs.Path;

/**
 * The complete list of the files that a job published; the report itself names only the first. It
 * is JSON lines in gzip: a line about the job, then a line for each file, so neither side holds
 * more than one of them.
 */
public final class FileList implements Closeable {
  private static final Set<String> FIELDS =
      Set.of("jobId", "table", "files", "path", "size", "etag");

  private final JsonLines lines;
  private final String origin;
  private final String jobId;
  private final Path table;
  private final long count;
  private long given;

  private FileList(JsonLines lines, String origin) throws IOException {
    this.lines = lines;
    this.origin = origin;
    Record first =
        parse(lines.next().orElseThrow(() -> corrupt("it is empty", null)), FileList::head);
    this.jobId = first.text("jobId");
    this.table = PathText.read(first.text("table"));
    this.count = first.number("files");
  }

  /** The first line, whose fields are there, and as they should be. */
  private static Record head(Record line) {
    line.text("jobId");
    line.number("files");
    PathText.read(line.text("table"));
    return line;
  }

  /**
   * Writes a list. The stream is flushed and stays open.
   *
   * @param table the table's directory; files below it are listed without it
   * @param count how many files there are
   * @param files the files, of which the destinations are listed
   * @throws IOException also if there are not {@code count} files
   */
  public static void write(
      OutputStream out, String jobId, Path table, long count, Iterable<FileEntry> files)
      throws IOException {
    Path directory = PathText.canonical(table);
    JsonLines.Writer list = new JsonLines.Writer(out);
    JsonGenerator json = list.json();
    json.writeStartObject();
    json.writeStringField("jobId", Text.wellFormed(jobId));
    json.writeStringField("table", PathText.write(directory));
    json.writeNumberField("files", count);
    json.writeEndObject();
    long written = 0;
    Path within = null;
    Optional<String> prefix = Optional.empty();
    for (FileEntry file : files) {
      if (!file.destinationDirectory().equals(within)) {
        within = file.destinationDirectory();
        prefix = PathText.prefixBelow(directory, within);
      }
      json.writeStartObject();
      json.writeStringField(
          "path",
          prefix.isPresent()
              ? prefix.get() + file.name()
              : PathText.relative(directory, file.destination()));
      json.writeNumberField("size", file.size());
      String etag = FileIdentity.kept(file.etag());
      if (!etag.isEmpty()) {
        json.writeStringField("etag", etag);
      }
      json.writeEndObject();
      written++;
    }
    if (written != count) {
      throw new IOException(
          "The list of the files of job "
              + jobId
              + " in "
              + table
              + " was to have "
              + count
              + " and has "
              + written);
    }
    list.finish();
  }

  /**
   * Starts to read a list.
   *
   * @param in the file; closed with the list, and if this fails
   * @param origin the file, for messages
   * @throws CorruptManifestException if it does not start as a list
   */
  public static FileList read(InputStream in, String origin) throws IOException {
    JsonLines lines = JsonLines.read(in, why -> corrupt(origin, why, null));
    try {
      return new FileList(lines, origin);
    } catch (IOException | RuntimeException e) {
      lines.close();
      throw e;
    }
  }

  /** The job that published the files. */
  public String jobId() {
    return jobId;
  }

  /** The table's directory. */
  public Path table() {
    return table;
  }

  /** How many files there are. */
  public long count() {
    return count;
  }

  /**
   * The next file, nothing after the last.
   *
   * @throws CorruptManifestException if the list is damaged or does not have as many files as it
   *     says
   */
  public Optional<Entry> next() throws IOException {
    Optional<String> line = lines.next();
    if (!line.isPresent()) {
      if (given != count) {
        throw corrupt("it names " + given + " files where its first line says " + count, null);
      }
      return Optional.empty();
    }
    given++;
    if (given > count) {
      throw corrupt("it names more than the " + count + " files of its first line", null);
    }
    return Optional.of(parse(line.get(), this::entry));
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }

  private Entry entry(Record line) {
    String path = line.text("path");
    return new Entry(
        path, PathText.resolve(table, path), line.number("size"), line.textOrEmpty("etag"));
  }

  private <T> T parse(String line, Function<Record, T> document) throws CorruptManifestException {
    try {
      return JsonReader.read(new StringReader(line), FIELDS::contains, Map.of(), document);
    } catch (BadJsonException e) {
      throw corrupt("line " + (given + 1) + ": " + e.getMessage(), e);
    }
  }

  private CorruptManifestException corrupt(String why, Exception cause) {
    return corrupt(origin, why, cause);
  }

  private static CorruptManifestException corrupt(String origin, String why, Exception cause) {
    return new CorruptManifestException(
        origin
            + " is not a complete list of a job's files: "
            + why
            + ". The files themselves are not affected: list the table instead",
        cause);
  }

  /** One published file. */
  public static final class Entry {
    private final String path;
    private final Path location;
    private final long size;
    private final String etag;

    private Entry(String path, Path location, long size, String etag) {
      this.path = path;
      this.location = location;
      this.size = size;
      this.etag = etag;
    }

    /**
     * The path below the table, with {@code /} between components; a URI where the file lies
     * elsewhere.
     */
    public String path() {
      return path;
    }

    /** The full path. */
    public Path location() {
      return location;
    }

    /** The length in bytes. */
    public long size() {
      return size;
    }

    /** The etag, empty where it is unknown. */
    public String etag() {
      return etag;
    }

    @Override
    public String toString() {
      return path + " (" + size + " bytes)";
    }
  }
}
