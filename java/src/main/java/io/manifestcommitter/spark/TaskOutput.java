package io.manifestcommitter.spark;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.Packed;
import io.manifestcommitter.manifest.PathText;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
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
 * body    = jobId task attempt groups, each: location directory count names
 * string  = varint length, UTF-8;   name = varint length shared with the name before, string
 * </pre>
 */
final class TaskOutput {
  /** The location of files that go to the table itself. */
  static final String TABLE = "";

  private static final byte[] MAGIC = {'M', 'C', 1};
  private static final int HEADER = MAGIC.length + 8;
  private static final int MOST_BYTES = 1 << 28;

  /** More than deflate can make of a byte. */
  private static final int MOST_DEFLATED = 1100;

  /** What a byte of the body can stand for: of a name, what differs from the one before. */
  private static final int MOST_SHARED = 256;

  private final String jobId;
  private final int task;
  private final long attempt;
  private final NavigableMap<String, NavigableMap<String, NavigableSet<String>>> names;

  private TaskOutput(
      String jobId,
      int task,
      long attempt,
      NavigableMap<String, NavigableMap<String, NavigableSet<String>>> names) {
    this.jobId = jobId;
    this.task = task;
    this.attempt = attempt;
    this.names = names;
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

  /**
   * The file names by location ({@link #TABLE} or a custom location's path) and by directory
   * relative to it (empty for the location itself). Sorted, unmodifiable.
   */
  Map<String, NavigableMap<String, NavigableSet<String>>> names() {
    return Collections.unmodifiableMap(names);
  }

  /** The message. */
  byte[] toBytes() {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(body)) {
      writeString(out, jobId);
      writeVarint(out, task);
      writeVarint(out, attempt);
      writeVarint(out, names.values().stream().mapToInt(Map::size).sum());
      for (Map.Entry<String, NavigableMap<String, NavigableSet<String>>> location :
          names.entrySet()) {
        for (Map.Entry<String, NavigableSet<String>> directory : location.getValue().entrySet()) {
          writeString(out, location.getKey());
          writeString(out, directory.getKey());
          writeVarint(out, directory.getValue().size());
          writeNames(out, directory.getValue());
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
    message.put(MAGIC).putInt((int) checksum.getValue());
    return message.array();
  }

  /**
   * Reads a message.
   *
   * @param origin names the message in errors
   * @throws CorruptManifestException if it is not, to the last bit, what {@link #toBytes} wrote
   */
  static TaskOutput parse(byte[] message, String origin) throws CorruptManifestException {
    if (message.length < HEADER || !Arrays.equals(Arrays.copyOf(message, MAGIC.length), MAGIC)) {
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
      ByteArrayInputStream body = new ByteArrayInputStream(Packed.inflate(message, HEADER, length));
      TaskOutput output = read(new DataInputStream(body), (long) MOST_SHARED * length);
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
        && names.equals(that.names);
  }

  @Override
  public int hashCode() {
    return Objects.hash(jobId, task, attempt, names);
  }

  @Override
  public String toString() {
    return "task " + task + " attempt " + attempt + " of job " + jobId + ": " + names;
  }

  /**
   * Reads a body.
   *
   * @param most how many characters its names may have together
   */
  private static TaskOutput read(DataInputStream in, long most) throws IOException {
    long left = most;
    Builder builder = builder(readString(in), Math.toIntExact(readVarint(in)), readVarint(in));
    long groups = readVarint(in);
    for (long group = 0; group < groups; group++) {
      String location = readString(in);
      String directory = readString(in);
      long count = readVarint(in);
      String name = "";
      for (long i = 0; i < count; i++) {
        int shared = Math.toIntExact(readVarint(in));
        if (shared > name.length()) {
          throw new IOException("a name shares more than there is");
        }
        name = name.substring(0, shared) + readString(in);
        left -= name.length();
        if (left < 0) {
          throw new IOException("its names have more than " + most + " characters");
        }
        builder.add(location, directory, name);
      }
    }
    return builder.build();
  }

  private static void writeNames(DataOutputStream out, NavigableSet<String> sorted)
      throws IOException {
    String before = "";
    for (String name : sorted) {
      int shared = Packed.shared(before, name);
      writeVarint(out, shared);
      writeString(out, name.substring(shared));
      before = name;
    }
  }

  private static void writeString(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    writeVarint(out, bytes.length);
    out.write(bytes);
  }

  private static String readString(DataInputStream in) throws IOException {
    int length = Math.toIntExact(readVarint(in));
    if (length > in.available()) {
      throw new IOException("a text of " + length + " bytes is cut short");
    }
    byte[] bytes = in.readNBytes(length);
    if (isAscii(bytes)) {
      return new String(bytes, StandardCharsets.US_ASCII);
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new IOException("a text is not UTF-8", e);
    }
  }

  /** As nearly all names are, which are then neither decoded nor tried to be encoded. */
  private static boolean isAscii(byte[] bytes) {
    for (byte one : bytes) {
      if (one < 0) {
        return false;
      }
    }
    return true;
  }

  private static void writeVarint(DataOutputStream out, long value) throws IOException {
    long rest = value;
    while (rest > 0x7f) {
      out.writeByte((int) (rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    out.writeByte((int) rest);
  }

  private static long readVarint(DataInputStream in) throws IOException {
    long value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      int next = in.readUnsignedByte();
      value |= (long) (next & 0x7f) << shift;
      if ((next & 0x80) == 0) {
        return value;
      }
    }
    throw new IOException("a number is too long");
  }

  /** Half a surrogate pair would be written as a question mark. */
  private static void requireText(String text) {
    boolean isPlain = text.chars().noneMatch(c -> c > 0x7f);
    if (!isPlain && !StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw new IllegalArgumentException("'" + text + "' cannot be written as UTF-8");
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

  /** Collects names; checks each. Not for use by several threads. */
  static final class Builder {
    private final String jobId;
    private final int task;
    private final long attempt;
    private final NavigableMap<String, NavigableMap<String, NavigableSet<String>>> names =
        new TreeMap<>();

    private Builder(String jobId, int task, long attempt) {
      if (jobId.isEmpty() || task < 0 || attempt < 0) {
        throw new IllegalArgumentException(
            "no attempt has the id " + jobId + "/" + task + "/" + attempt);
      }
      requireText(jobId);
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
      requireText(directory);
      requireText(name);
      if (name.contains("/") || PathText.hasDotSegment(name)) {
        throw new IllegalArgumentException("'" + name + "' is not a file's name");
      }
      if (!directory.isEmpty() && PathText.hasDotSegment(directory)) {
        throw new IllegalArgumentException("'" + directory + "' is not a relative directory");
      }
      names
          .computeIfAbsent(location, key -> new TreeMap<>())
          .computeIfAbsent(directory, key -> new TreeSet<>())
          .add(name);
      return this;
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

    /** The names added so far, by location and directory. */
    Map<String, NavigableMap<String, NavigableSet<String>>> names() {
      return names;
    }

    /** The output. The builder is not to be used any more. */
    TaskOutput build() {
      return new TaskOutput(jobId, task, attempt, names);
    }
  }
}
