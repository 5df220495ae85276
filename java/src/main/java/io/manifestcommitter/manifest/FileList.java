// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * The complete list of the files that a job published; the report itself names only the first. It
 * is JSON lines in gzip: a line about the job, then a line for each file, so neither side holds
 * more than one of them.
 */
public final class FileList implements Closeable {
  private static final Set<String> FIELDS =
      Set.of("jobId", "table", "files", "path", "size", "etag");

  public final String jobId;
  public final Path table;

  /** How many files it names. */
  public final long count;

  private final RecordFile.Lines lines;
  private final String origin;
  private long given;

  private FileList(InputStream in, String origin) throws IOException {
    this.origin = origin;
    this.lines = new RecordFile.Lines(in, FIELDS::contains, this::corrupt);
    try {
      Record first = lines.next().orElseThrow(() -> corrupt("it is empty", null));
      this.jobId = first.text("jobId");
      this.table = PathText.read(first.text("table"));
      this.count = first.number("files");
    } catch (IOException e) {
      lines.close();
      throw e;
    } catch (IllegalArgumentException e) {
      lines.close();
      throw corrupt("line 1: " + e.getMessage(), e);
    }
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
    RecordFile.Writer list = new RecordFile.Writer(out);
    list.write(
        line()
            .with("jobId", PathText.wellFormed(jobId))
            .with("table", PathText.write(directory))
            .with("files", count));
    long written = 0;
    for (FileEntry file : files) {
      Record line =
          line()
              .with("path", PathText.relative(directory, file.destinationDirectory(), file.name()))
              .with("size", file.size());
      String etag = FileIdentity.kept(file.etag());
      list.write(etag.isEmpty() ? line : line.with("etag", etag));
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
    list.finishLines();
  }

  private static Record line() {
    return new Record(new LinkedHashMap<>());
  }

  /**
   * Starts to read a list.
   *
   * @param in the file; closed with the list, and if this fails
   * @param origin the file, for messages
   * @throws CorruptManifestException if it does not start as a list
   */
  public static FileList read(InputStream in, String origin) throws IOException {
    return new FileList(in, origin);
  }

  /** Whether a file that starts with these bytes is a list of files. */
  public static boolean isOne(byte[] start) {
    return start.length >= 2 && start[0] == 0x1f && start[1] == (byte) 0x8b;
  }

  /**
   * The next file, nothing after the last.
   *
   * @throws CorruptManifestException if the list is damaged or does not have as many files as it
   *     says
   */
  public Optional<Entry> next() throws IOException {
    Optional<Record> line = lines.next();
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
    try {
      return Optional.of(new Entry(line.get(), table));
    } catch (IllegalArgumentException e) {
      throw corrupt("line " + (given + 1) + ": " + e.getMessage(), e);
    }
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }

  private CorruptManifestException corrupt(String why, Exception cause) {
    return new CorruptManifestException(
        origin
            + " is not a complete list of a job's files: "
            + why
            + ". The files themselves are not affected: list the table instead",
        cause);
  }

  /** One published file. */
  public static final class Entry {
    /**
     * The path below the table, with {@code /} between components; a URI where the file lies
     * elsewhere.
     */
    public final String path;

    public final Path location;
    public final long size;
    public final String etag;

    private Entry(Record line, Path table) {
      this.path = line.text("path");
      this.location = PathText.resolve(table, path);
      this.size = line.number("size");
      this.etag = line.textOrEmpty("etag");
    }
  }
}
