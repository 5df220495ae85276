// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.Packed;
import io.manifestcommitter.manifest.PathText;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.CRC32C;
import java.util.zip.Deflater;
import org.apache.hadoop.fs.Path;

/**
 * What one committed task attempt wrote, as it travels to the driver inside Spark's commit message.
 *
 * <p>The message is a {@code byte[]} and not an object of ours: the driver could not load our class
 * after a runtime {@code ADD JAR}, and Kryo with {@code registrationRequired} would refuse it. The
 * encoding is versioned; names are sorted and share their prefixes, and the whole is compressed and
 * checksummed:
 *
 * <pre>
 * 'M' 'C' version(1) crc32c(4, of what follows) length(4, uncompressed) deflate( body )
 * body    = jobId task attempt groups, each: location directory count names uploads
 * string  = varint length, UTF-8;   name = varint length shared with the name before, string
 * </pre>
 *
 * <p>Version 2 has uploads, one for each name. Each begins with a varint: 0 where the file is in
 * the staging directory, otherwise its length and one. In the second case a string follows: its
 * etag, with the upload in it. Version 1, which has none, is what is written where nothing was
 * uploaded.
 */
final class TaskOutput {
  /** The location of files that go to the table itself. */
  static final String TABLE = "";

  private static final byte[] MAGIC = {'M', 'C', 1};
  private static final byte[] WITH_UPLOADS = {'M', 'C', 2};
  private static final int HEADER = MAGIC.length + 8;
  private static final int MOST_BYTES = 1 << 28;

  /** More than deflate can make of a byte. */
  private static final int MOST_DEFLATED = 1100;

  /**
   * How many characters of names a byte of the body can stand for. Of a name what differs from the
   * one before is written, with its end: that is a tenth of it, as Spark names files.
   */
  private static final int MOST_SHARED = 64;

  private final String jobId;
  private final int task;
  private final long attempt;
  private final List<Group> groups;
  private final Map<List<String>, UploadedFile> uploads;

  private TaskOutput(
      String jobId,
      int task,
      long attempt,
      List<Group> groups,
      Map<List<String>, UploadedFile> uploads) {
    this.jobId = jobId;
    this.task = task;
    this.attempt = attempt;
    this.groups = Collections.unmodifiableList(groups);
    this.uploads = uploads;
  }

  /** Collects the output of a task attempt. */
  static Builder builder(String jobId, int task, long attempt) {
    return new Builder(jobId, task, attempt);
  }

  /** The protocol's job id. */
  String jobId() {
    return jobId;
  }

  /** The number of the task: Spark's partition. */
  int task() {
    return task;
  }

  /** Spark's id of the attempt, unique in the application. */
  long attempt() {
    return attempt;
  }

  /** The files by directory, in order: those of one location come together. Unmodifiable. */
  List<Group> groups() {
    return groups;
  }

  /** Whether any of the files was uploaded. */
  boolean hasUploads() {
    return !uploads.isEmpty();
  }

  /** What was uploaded of a file; empty if it is in the staging directory, or was not written. */
  Optional<UploadedFile> upload(String location, String directory, String name) {
    return Optional.ofNullable(uploads.get(List.of(location, directory, name)));
  }

  /** The message. */
  byte[] toBytes() {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(body)) {
      writeString(out, jobId);
      writeVarint(out, task);
      writeVarint(out, attempt);
      writeVarint(out, groups.size());
      for (Group group : groups) {
        writeString(out, group.location);
        writeString(out, group.directory);
        writeVarint(out, group.names.size());
        writeNames(out, group.names);
        if (!uploads.isEmpty()) {
          writeUploads(out, group);
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException("Writing to memory failed", e);
    }
    byte[] plain = body.toByteArray();
    byte[] packed = Packed.deflate(plain, Deflater.DEFAULT_COMPRESSION);
    CRC32C checksum = new CRC32C();
    ByteBuffer message = ByteBuffer.allocate(HEADER + packed.length);
    message.position(HEADER - 4);
    message.putInt(plain.length).put(packed);
    checksum.update(message.array(), HEADER - 4, packed.length + 4);
    message.position(0);
    message.put(uploads.isEmpty() ? MAGIC : WITH_UPLOADS).putInt((int) checksum.getValue());
    return message.array();
  }

  /**
   * Reads a message.
   *
   * @param origin names the message in errors
   * @throws CorruptManifestException if it is not, to the last bit, what {@link #toBytes} wrote
   */
  static TaskOutput parse(byte[] message, String origin) throws CorruptManifestException {
    byte[] magic = Arrays.copyOf(message, MAGIC.length);
    boolean hasUploads = Arrays.equals(magic, WITH_UPLOADS);
    if (message.length < HEADER || !(hasUploads || Arrays.equals(magic, MAGIC))) {
      throw corrupt(origin, "it is not a message of this version of the committer", null);
    }
    ByteBuffer header = ByteBuffer.wrap(message, MAGIC.length, 8);
    int expected = header.getInt();
    int length = header.getInt();
    CRC32C checksum = new CRC32C();
    checksum.update(message, HEADER - 4, message.length - HEADER + 4);
    if ((int) checksum.getValue() != expected) {
      throw corrupt(origin, "its checksum does not match", null);
    }
    if (length < 0 || length > MOST_BYTES || length / MOST_DEFLATED > message.length) {
      throw corrupt(origin, "it claims " + length + " bytes", null);
    }
    try {
      Body body = new Body(Packed.inflate(message, HEADER, length));
      TaskOutput output = read(body, hasUploads, (long) MOST_SHARED * length);
      if (body.available() > 0) {
        throw corrupt(origin, "it has " + body.available() + " bytes too many", null);
      }
      return output;
    } catch (CorruptManifestException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      throw corrupt(origin, e.getMessage() == null ? "it is cut short" : e.getMessage(), e);
    }
  }

  @Override
  public boolean equals(Object other) {
    if (!(other instanceof TaskOutput)) {
      return false;
    }
    TaskOutput that = (TaskOutput) other;
    return jobId.equals(that.jobId)
        && task == that.task
        && attempt == that.attempt
        && groups.equals(that.groups)
        && uploads.equals(that.uploads);
  }

  @Override
  public int hashCode() {
    return Objects.hash(jobId, task, attempt, groups, uploads);
  }

  @Override
  public String toString() {
    return "task " + task + " attempt " + attempt + " of job " + jobId + ": " + groups;
  }

  /**
   * Reads a body.
   *
   * @param most how many characters its names may have together
   */
  private static TaskOutput read(Body in, boolean hasUploads, long most) throws IOException {
    long left = most;
    String jobId = in.string();
    int task = Math.toIntExact(in.varint());
    long attempt = in.varint();
    requireAttempt(jobId, task, attempt);
    List<Group> groups = new ArrayList<>();
    Map<List<String>, UploadedFile> uploads = new HashMap<>();
    Group last = null;
    for (long rest = in.varint(); rest > 0; rest--) {
      Group group = readGroup(in, last, left);
      left -= group.characters();
      groups.add(group);
      for (String uploaded : hasUploads ? group.names : List.<String>of()) {
        long length = in.varint() - 1;
        if (length >= 0) {
          UploadedFile file = new UploadedFile(length, in.string());
          uploads.put(List.of(group.location, group.directory, uploaded), file);
        }
      }
      last = group;
    }
    return new TaskOutput(jobId, task, attempt, groups, uploads);
  }

  /**
   * Reads the files of one directory, which comes after that of the last group.
   *
   * @param last null before the first
   * @param most how many characters its names may have together
   */
  private static Group readGroup(Body in, Group last, long most) throws IOException {
    String location = in.string();
    boolean isNewLocation = last == null || !location.equals(last.location);
    if (isNewLocation) {
      requireLocation(location);
    }
    String directory = in.string();
    requireDirectory(directory);
    Group group = new Group(location, directory, readNames(in, most));
    if (last != null && group.compareTo(last) <= 0) {
      throw new IOException("its directories are not in order");
    }
    return group;
  }

  /**
   * Reads the names of one directory.
   *
   * @param most how many characters they may have together
   * @return in their order, none twice
   */
  private static List<String> readNames(Body in, long most) throws IOException {
    long count = in.varint();
    if (count == 0 || count > in.available()) {
      throw new IOException("it claims " + count + " names in a directory");
    }
    long left = most;
    List<String> names = new ArrayList<>((int) count);
    String name = "";
    for (long i = 0; i < count; i++) {
      int shared = Math.toIntExact(in.varint());
      if (shared > name.length()) {
        throw new IOException("a name shares more characters than the name before it has");
      }
      String next = name.substring(0, shared) + in.string();
      left -= next.length();
      if (left < 0) {
        throw new IOException("its names have too many characters");
      }
      if (next.compareTo(name) <= 0) {
        throw new IOException("its names are not in order");
      }
      requireName(next, shared);
      names.add(next);
      name = next;
    }
    return Collections.unmodifiableList(names);
  }

  private static void writeNames(DataOutputStream out, List<String> sorted) throws IOException {
    String before = "";
    for (String name : sorted) {
      int shared = Packed.shared(before, name);
      writeVarint(out, shared);
      writeString(out, name.substring(shared));
      before = name;
    }
  }

  private void writeUploads(DataOutputStream out, Group group) throws IOException {
    for (String name : group.names) {
      UploadedFile file = uploads.get(List.of(group.location, group.directory, name));
      writeVarint(out, file == null ? 0 : file.length() + 1);
      if (file != null) {
        writeString(out, file.etag());
      }
    }
  }

  private static void writeString(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    writeVarint(out, bytes.length);
    out.write(bytes);
  }

  private static void writeVarint(DataOutputStream out, long value) throws IOException {
    long rest = value;
    while (rest > 0x7f) {
      out.writeByte((int) (rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    out.writeByte((int) rest);
  }

  /** Half a surrogate pair would be written as a question mark. */
  private static void requireText(String text) {
    if (!isAscii(text, 0) && !StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw new IllegalArgumentException("'" + text + "' cannot be written as UTF-8");
    }
  }

  private static boolean isAscii(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      if (text.charAt(i) > 0x7f) {
        return false;
      }
    }
    return true;
  }

  private static void requireAttempt(String jobId, int task, long attempt) {
    if (jobId.isEmpty() || task < 0 || attempt < 0) {
      throw new IllegalArgumentException(
          "no attempt has the id " + jobId + "/" + task + "/" + attempt);
    }
    requireText(jobId);
  }

  private static void requireLocation(String location) {
    requireText(location);
    if (location.equals(TABLE)) {
      return;
    }
    Path path = new Path(location);
    String text = path.toUri().getPath();
    if (path.toUri().getScheme() == null
        || !path.toString().equals(location)
        || !text.startsWith("/")
        || (text.length() > 1 && PathText.hasDotSegment(text.substring(1)))) {
      throw new IllegalArgumentException("'" + location + "' is not a location's path");
    }
  }

  private static void requireDirectory(String directory) {
    requireText(directory);
    if (!directory.isEmpty() && PathText.hasDotSegment(directory)) {
      throw new IllegalArgumentException("'" + directory + "' is not a relative directory");
    }
  }

  private static void requireName(String name) {
    requireName(name, 0);
  }

  /** As {@link #requireName(String)}, of a name that begins as another one, which was looked at. */
  private static void requireName(String name, int shared) {
    // With the last of what is shared, which may be half of a pair here.
    if (!isAscii(name, Math.max(0, shared - 1))) {
      requireText(name);
    }
    boolean isDots = name.isEmpty() || name.equals(".") || name.equals("..");
    if (isDots || name.indexOf('/', shared) >= 0) {
      throw new IllegalArgumentException("'" + name + "' is not a file's name");
    }
  }

  private static CorruptManifestException corrupt(String origin, String reason, Exception cause) {
    return new CorruptManifestException(
        origin
            + " cannot be used: "
            + reason
            + ". Driver and executors have to run the same version of the committer's jar.",
        cause);
  }

  /** The inflated body of a message. */
  private static final class Body {
    private final byte[] bytes;
    private int position;

    Body(byte[] bytes) {
      this.bytes = bytes;
    }

    int available() {
      return bytes.length - position;
    }

    long varint() throws IOException {
      long value = 0;
      for (int shift = 0; shift < 63; shift += 7) {
        if (position == bytes.length) {
          throw new EOFException();
        }
        byte next = bytes[position++];
        value |= (long) (next & 0x7f) << shift;
        if (next >= 0) {
          return value;
        }
      }
      throw new IOException("a number is too long");
    }

    String string() throws IOException {
      int length = Math.toIntExact(varint());
      if (length > available()) {
        throw new IOException("a text of " + length + " bytes is cut short");
      }
      int from = position;
      position += length;
      for (int i = from; i < position; i++) {
        if (bytes[i] < 0) {
          return decoded(ByteBuffer.wrap(bytes, from, length));
        }
      }
      // As nearly all names are: no decoder is needed.
      return new String(bytes, from, length, StandardCharsets.ISO_8859_1);
    }

    private static String decoded(ByteBuffer utf8) throws IOException {
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(utf8).toString();
      } catch (CharacterCodingException e) {
        throw new IOException("a text is not UTF-8", e);
      }
    }
  }

  /** The files of one directory. */
  static final class Group implements Comparable<Group> {
    private final String location;
    private final String directory;
    private final List<String> names;

    private Group(String location, String directory, List<String> names) {
      this.location = location;
      this.directory = directory;
      this.names = names;
    }

    /** {@link #TABLE}, or the path of a custom location. */
    String location() {
      return location;
    }

    /** Relative to the location; empty for the location itself. */
    String directory() {
      return directory;
    }

    /** In order, unmodifiable, not empty. */
    List<String> names() {
      return names;
    }

    private long characters() {
      long characters = 0;
      for (String name : names) {
        characters += name.length();
      }
      return characters;
    }

    @Override
    public int compareTo(Group other) {
      int byLocation = location.compareTo(other.location);
      return byLocation != 0 ? byLocation : directory.compareTo(other.directory);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Group
          && compareTo((Group) other) == 0
          && names.equals(((Group) other).names);
    }

    @Override
    public int hashCode() {
      return Objects.hash(location, directory, names);
    }

    @Override
    public String toString() {
      return location + "/" + directory + "/" + names;
    }
  }

  /** Collects names; checks each. Not for use by several threads. */
  static final class Builder {
    private final String jobId;
    private final int task;
    private final long attempt;
    private final NavigableMap<String, NavigableMap<String, NavigableSet<String>>> names =
        new TreeMap<>();
    private final Map<List<String>, UploadedFile> uploads = new HashMap<>();

    private Builder(String jobId, int task, long attempt) {
      requireAttempt(jobId, task, attempt);
      this.jobId = jobId;
      this.task = task;
      this.attempt = attempt;
    }

    /**
     * Adds a file; adding it twice is the same as once.
     *
     * @param location {@link #TABLE} or the path of a custom location, with its scheme
     * @param directory relative to the location, empty for the location itself
     * @throws IllegalArgumentException for a directory or name that would lead anywhere else, or a
     *     location that is none
     */
    Builder add(String location, String directory, String name) {
      if (!names.containsKey(location)) {
        requireLocation(location);
      }
      requireDirectory(directory);
      requireName(name);
      names
          .computeIfAbsent(location, key -> new TreeMap<>())
          .computeIfAbsent(directory, key -> new TreeSet<>())
          .add(name);
      return this;
    }

    /** Adds what was uploaded of a file that was added. */
    Builder uploaded(String location, String directory, String name, UploadedFile file) {
      uploads.put(List.of(location, directory, name), file);
      return this;
    }

    /** The names added so far, by location and directory. */
    Map<String, NavigableMap<String, NavigableSet<String>>> names() {
      return names;
    }

    /** The output. The builder is not to be used any more. */
    TaskOutput build() {
      List<Group> groups = new ArrayList<>();
      names.forEach(
          (location, directories) ->
              directories.forEach(
                  (directory, sorted) ->
                      groups.add(new Group(location, directory, List.copyOf(sorted)))));
      return new TaskOutput(jobId, task, attempt, groups, uploads);
    }
  }
}
