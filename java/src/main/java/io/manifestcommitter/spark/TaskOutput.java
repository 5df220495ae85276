// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.Rows;
import io.manifestcommitter.spark.StagedFile.Form;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SortedSet;
import java.util.zip.CRC32C;

/**
 * What one committed task attempt staged, as it travels to the driver inside Spark's commit
 * message. Its files are read one by one, and only once.
 *
 * <p>The message is a {@code byte[]} and not an object of ours: the driver could not load our class
 * after a runtime {@code ADD JAR}, and Kryo with {@code registrationRequired} would refuse it. The
 * encoding is versioned; the files are sorted rows, which share what they have in common, and the
 * whole is compressed and checksummed:
 *
 * <pre>
 * 'M' 'C' version(4) crc32c(4, of what follows) length(4, uncompressed) deflate( body )
 * body    = jobId task files, each: location directory name form [ etag length ]
 * </pre>
 *
 * <p>A file that is to be renamed has neither etag nor length.
 */
final class TaskOutput {
  private static final byte[] MAGIC = {'M', 'C', 4};
  private static final int HEADER = MAGIC.length + 8;
  private static final int MOST_BYTES = 1 << 28;

  /** More than deflate can make of a byte. */
  private static final int MOST_DEFLATED = 1100;

  /** A text of a damaged message could double with each row. */
  private static final int LONGEST_TEXT = 1 << 20;

  /** The columns of texts. */
  private static final int LOCATIONS = 0;

  private static final int DIRECTORIES = 1;
  private static final int NAMES = 2;
  private static final int FORMS = 3;
  private static final int ETAGS = 4;
  private static final int COLUMNS = 5;

  private final String origin;
  private final Rows.Reader rows;

  /** The protocol's job id. */
  final String jobId;

  /** The number of the task: Spark's partition. */
  final int task;

  private StagedFile last = new StagedFile(StagedFile.TABLE, "", "none");

  private TaskOutput(byte[] body, String origin) {
    this.origin = origin;
    this.rows = new Rows.Reader(COLUMNS, body);
    this.jobId = rows.plain();
    this.task = Math.toIntExact(rows.number());
    requireTask(jobId, task);
  }

  /** The message of a task attempt. */
  static byte[] message(String jobId, int task, SortedSet<StagedFile> files) {
    requireTask(jobId, task);
    Rows.Writer body = new Rows.Writer(COLUMNS, 1024).plain(jobId).number(task);
    for (StagedFile file : files) {
      body.text(LOCATIONS, file.location).text(DIRECTORIES, file.directory).text(NAMES, file.name);
      body.text(FORMS, file.form.name());
      file.identity.ifPresent(known -> body.text(ETAGS, known.etag).number(known.length));
    }
    byte[] plain = body.take();
    byte[] packed = Rows.deflate(plain);
    ByteBuffer message = ByteBuffer.allocate(HEADER + packed.length);
    message.position(HEADER - 4).putInt(plain.length).put(packed);
    message.rewind().put(MAGIC).putInt(checksum(message.array()));
    return message.array();
  }

  private static int checksum(byte[] message) {
    CRC32C checksum = new CRC32C();
    checksum.update(message, HEADER - 4, message.length - HEADER + 4);
    return (int) checksum.getValue();
  }

  private static void requireTask(String jobId, int task) {
    if (jobId.isEmpty() || task < 0) {
      throw new IllegalArgumentException("no task has the id " + jobId + "/" + task);
    }
  }

  /**
   * Reads a message.
   *
   * @param origin names the message in errors
   * @throws CorruptManifestException if it is not, to the last bit, what {@link #message} wrote
   */
  static TaskOutput parse(byte[] message, String origin) throws CorruptManifestException {
    if (message.length < HEADER || !Arrays.equals(Arrays.copyOf(message, MAGIC.length), MAGIC)) {
      throw corrupt(origin, "it is not a message of this version of the committer", null);
    }
    ByteBuffer header = ByteBuffer.wrap(message, MAGIC.length, 8);
    if (header.getInt() != checksum(message)) {
      throw corrupt(origin, "its checksum does not match", null);
    }
    int length = header.getInt();
    if (length < 0 || length > MOST_BYTES || length / MOST_DEFLATED > message.length) {
      throw corrupt(origin, "it claims " + length + " bytes", null);
    }
    try {
      return new TaskOutput(Rows.inflate(message, HEADER, length), origin);
    } catch (IOException | RuntimeException e) {
      throw corrupt(origin, String.valueOf(e.getMessage()), e);
    }
  }

  /** Whether there are more files. */
  boolean hasMore() {
    return rows.hasMore();
  }

  /** The next file, in order: those of one location and directory come together. */
  StagedFile next() throws CorruptManifestException {
    try {
      String location = text(LOCATIONS);
      String directory = text(DIRECTORIES);
      String name = text(NAMES);
      last =
          last.isBeside(location, directory)
              ? last.next(name)
              : new StagedFile(location, directory, name);
      Form form = Form.valueOf(text(FORMS));
      if (form == Form.TO_RENAME) {
        return last;
      }
      String etag = text(ETAGS);
      return last.as(form, rows.number(), etag);
    } catch (RuntimeException e) {
      throw corrupt(origin, String.valueOf(e.getMessage()), e);
    }
  }

  private String text(int column) {
    String text = rows.text(column);
    if (text.length() > LONGEST_TEXT) {
      throw new IllegalArgumentException("a text has " + text.length() + " characters");
    }
    return text;
  }

  private static CorruptManifestException corrupt(String origin, String reason, Exception cause) {
    return new CorruptManifestException(
        origin
            + " cannot be used: "
            + reason
            + ". Driver and executors have to run the same version of the committer's jar.",
        cause);
  }
}
