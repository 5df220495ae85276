// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import io.manifestcommitter.manifest.JsonReader.BadJsonException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;

/**
 * What one committed task attempt contributes to its job: the files to rename, and the directories
 * they need.
 *
 * <p>The JSON is that of Hadoop's committer, which has no protection against damage. So a CRC32C of
 * everything a manifest says is added to its {@code extraData}, where Hadoop's tools let it pass.
 * {@link #parse} insists on it: a manifest is either read back equal or not at all.
 */
public final class TaskManifest {
  /** The type that a manifest names first, for Hadoop's tools and for ours. */
  public static final String TYPE =
      "org.apache.hadoop.mapreduce.lib.output.committer.manifest.files.TaskManifest/1";

  /** The version of the format. */
  public static final int VERSION = 1;

  /** The key in {@code extraData} that holds the checksum: eight lower case hexadecimal digits. */
  public static final String CHECKSUM_KEY = "crc32c";

  /**
   * The most bytes that a manifest can have, which is room for half a million files of one task.
   */
  public static final int MAX_BYTES = 256 << 20;

  /** How many bytes of heap a manifest needs for each of its JSON, while it is loaded. */
  public static final int HEAP_FOR_BYTE = 8;

  private static final Set<String> FIELDS =
      Set.of(
          ("type version jobId jobAttemptNumber taskID taskAttemptID taskAttemptDir files"
                  + " directories extraData "
                  + Statistics.FIELD)
              .split(" "));

  private final String jobId;
  private final int jobAttemptNumber;
  private final String taskId;
  private final String taskAttemptId;
  private final Path taskAttemptDirectory;
  private final List<FileEntry> files;
  private final List<DirectoryEntry> directories;
  private final Map<String, String> extraData;
  private final IOStatisticsSnapshot statistics;

  private TaskManifest(Builder builder) {
    this.jobId = requireId("job id", builder.jobId);
    this.jobAttemptNumber = builder.jobAttemptNumber;
    if (jobAttemptNumber < 0) {
      throw new IllegalArgumentException("the job attempt " + jobAttemptNumber + " is negative");
    }
    this.taskId = requireId("task id", builder.taskId);
    this.taskAttemptId = requireId("task attempt id", builder.taskAttemptId);
    if (builder.taskAttemptDirectory == null) {
      throw new IllegalArgumentException("the manifest has no task attempt directory");
    }
    this.taskAttemptDirectory = PathText.canonical(builder.taskAttemptDirectory);
    this.files = List.copyOf(builder.files);
    this.directories = List.copyOf(builder.directories);
    this.extraData = Collections.unmodifiableMap(new TreeMap<>(builder.extraData));
    extraData.forEach(
        (key, value) -> {
          Text.requireWellFormed(key);
          Text.requireWellFormed(value);
        });
    if (extraData.containsKey(CHECKSUM_KEY)) {
      throw new IllegalArgumentException(
          "the key " + CHECKSUM_KEY + " of extraData is kept for the checksum");
    }
    this.statistics = builder.statistics;
  }

  /** The most bytes of a manifest that this JVM's memory allows for. */
  public static int longest() {
    return (int) Math.min(MAX_BYTES, Runtime.getRuntime().maxMemory() / HEAP_FOR_BYTE);
  }

  /** A manifest in the making. */
  public static Builder builder() {
    return new Builder();
  }

  /** The job that the task belongs to. */
  public String jobId() {
    return jobId;
  }

  /** Which attempt of the job, from 0. */
  public int jobAttemptNumber() {
    return jobAttemptNumber;
  }

  /** The task. */
  public String taskId() {
    return taskId;
  }

  /** The attempt of the task that was committed. */
  public String taskAttemptId() {
    return taskAttemptId;
  }

  /** Where the attempt left its files. */
  public Path taskAttemptDirectory() {
    return taskAttemptDirectory;
  }

  /** The files to rename. */
  public List<FileEntry> files() {
    return files;
  }

  /** The directories that the files need. */
  public List<DirectoryEntry> directories() {
    return directories;
  }

  /** Anything else, without the checksum; sorted. */
  public Map<String, String> extraData() {
    return extraData;
  }

  /** What the task counted and measured. */
  public IOStatisticsSnapshot statistics() {
    return statistics;
  }

  /**
   * The manifest as JSON, with its checksum.
   *
   * @throws IllegalStateException if it is longer than {@link #MAX_BYTES}, so that nobody could
   *     read it
   */
  public byte[] toJson() {
    byte[] json = Record.toJson(fields());
    if (json.length > MAX_BYTES) {
      throw new IllegalStateException(
          "The manifest of task attempt "
              + taskAttemptId
              + " with its "
              + files.size()
              + " files has "
              + json.length
              + " bytes, more than the "
              + MAX_BYTES
              + " that can be read back. Let a task write fewer files, for example by a"
              + " repartition on the partition columns before the write");
    }
    return json;
  }

  /**
   * Reads a manifest that {@link #toJson} wrote.
   *
   * @param origin the file, for messages
   * @throws CorruptManifestException if one bit of what it says differs from what was written, or
   *     if it has no checksum
   */
  public static TaskManifest parse(byte[] json, String origin) throws CorruptManifestException {
    return parse(json, origin, /* insistsOnChecksum= */ true);
  }

  /**
   * Reads a manifest of ours or of Hadoop's committer: for tools that show it, not for a commit,
   * since Hadoop's have no checksum. One that is there is verified.
   *
   * @param origin the file, for messages
   */
  public static TaskManifest parseForeign(byte[] json, String origin)
      throws CorruptManifestException {
    return parse(json, origin, /* insistsOnChecksum= */ false);
  }

  @Override
  public String toString() {
    return "manifest of task attempt "
        + taskAttemptId
        + " of job "
        + jobId
        + " with "
        + files.size()
        + " files and "
        + directories.size()
        + " directories";
  }

  private Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("type", TYPE);
    fields.put("version", VERSION);
    fields.put("jobId", jobId);
    fields.put("jobAttemptNumber", jobAttemptNumber);
    fields.put("taskID", taskId);
    fields.put("taskAttemptID", taskAttemptId);
    fields.put("taskAttemptDir", PathText.write(taskAttemptDirectory));
    // Of many files, one at a time is in memory as fields.
    fields.put("files", files.stream().map(TaskManifest::fields).iterator());
    fields.put("directories", directories.stream().map(TaskManifest::fields).iterator());
    Map<String, String> extra = new TreeMap<>(extraData);
    extra.put(CHECKSUM_KEY, checksum());
    fields.put("extraData", extra);
    Map<String, Object> measured = Statistics.toJson(statistics);
    if (!measured.isEmpty()) {
      fields.put(Statistics.FIELD, measured);
    }
    return fields;
  }

  private static Map<String, Object> fields(FileEntry file) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("s", PathText.write(file.source()));
    fields.put("d", PathText.write(file.destination()));
    fields.put("z", file.size());
    if (!file.etag().isEmpty()) {
      fields.put("e", file.etag());
    }
    if (file.modificationTime() != 0) {
      fields.put("m", file.modificationTime());
    }
    return fields;
  }

  private static Map<String, Object> fields(DirectoryEntry directory) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("d", PathText.write(directory.path()));
    fields.put("t", directory.state().code());
    fields.put("l", directory.level());
    return fields;
  }

  /** The checksum of all that the manifest says, whatever its JSON looks like. */
  private String checksum() {
    Checksum checksum = new Checksum();
    checksum.add(jobId).add(jobAttemptNumber).add(taskId).add(taskAttemptId);
    checksum.add(PathText.write(taskAttemptDirectory));
    checksum.add(files.size());
    for (FileEntry file : files) {
      checksum.add(PathText.write(file.source())).add(PathText.write(file.destination()));
      checksum.add(file.size()).add(file.etag()).add(file.modificationTime());
    }
    checksum.add(directories.size());
    for (DirectoryEntry directory : directories) {
      checksum.add(PathText.write(directory.path()));
      checksum.add(directory.state().code()).add(directory.level());
    }
    checksum.add(extraData.size());
    extraData.forEach((key, value) -> checksum.add(key).add(value));
    checksum.add(statistics.counters());
    checksum.add(statistics.gauges());
    checksum.add(statistics.minimums());
    checksum.add(statistics.maximums());
    checksum.add(statistics.meanStatistics().size());
    new TreeMap<>(statistics.meanStatistics())
        .forEach((key, mean) -> checksum.add(key).add(mean.getSamples()).add(mean.getSum()));
    return JsonLines.hex(checksum.crc);
  }

  private static TaskManifest parse(byte[] json, String origin, boolean insistsOnChecksum)
      throws CorruptManifestException {
    if (json.length == 0) {
      throw corrupt(origin, "it is empty", null);
    }
    if (json.length > MAX_BYTES) {
      throw corrupt(origin, "it has " + json.length + " bytes, more than " + MAX_BYTES, null);
    }
    List<FileEntry> files = new ArrayList<>();
    List<DirectoryEntry> directories = new ArrayList<>();
    try {
      return JsonReader.read(
          JsonReader.utf8(json),
          FIELDS::contains,
          Map.of(
              "files", file -> files.add(file(file)),
              "directories", directory -> directories.add(directory(directory))),
          document -> read(document, files, directories, insistsOnChecksum));
    } catch (BadJsonException e) {
      throw corrupt(origin, e.getMessage(), e);
    }
  }

  private static CorruptManifestException corrupt(String origin, String why, Exception cause) {
    return new CorruptManifestException(
        origin
            + " is not a manifest that can be committed: "
            + why
            + ". Nothing may be published from it: run the job again; if it was written by this job"
            + " and not touched since, report it with the file",
        cause);
  }

  private static TaskManifest read(
      Record json,
      List<FileEntry> files,
      List<DirectoryEntry> directories,
      boolean insistsOnChecksum) {
    String type = json.text("type");
    int version = json.smallNumber("version");
    if (!type.equals(TYPE) || version != VERSION) {
      throw new IllegalArgumentException("its type is '" + type + "', version " + version);
    }
    Map<String, String> extraData = json.texts("extraData");
    String checksum = extraData.remove(CHECKSUM_KEY);
    if (checksum == null && insistsOnChecksum) {
      throw new IllegalArgumentException(
          "it has no checksum (" + CHECKSUM_KEY + " in extraData), so another committer wrote it");
    }
    TaskManifest manifest =
        builder()
            .job(json.text("jobId"), json.smallNumber("jobAttemptNumber"))
            .task(json.text("taskID"), json.text("taskAttemptID"))
            .taskAttemptDirectory(PathText.read(json.text("taskAttemptDir")))
            .files(files)
            .directories(directories)
            .extraData(extraData)
            .statistics(Statistics.in(json))
            .build();
    if (checksum != null && !checksum.equals(manifest.checksum())) {
      throw new IllegalArgumentException(
          "its checksum is " + checksum + " but its content gives " + manifest.checksum());
    }
    return manifest;
  }

  private static FileEntry file(Record file) {
    return new FileEntry(
        PathText.read(file.text("s")),
        PathText.read(file.text("d")),
        file.wholeNumber("z"),
        file.textOrEmpty("e"),
        file.has("m") ? file.wholeNumber("m") : 0);
  }

  private static DirectoryEntry directory(Record directory) {
    return new DirectoryEntry(
        PathText.read(directory.text("d")),
        DirectoryState.of(directory.smallNumber("t")),
        directory.smallNumber("l"));
  }

  private static String requireId(String what, String id) {
    if (id == null || id.isEmpty()) {
      throw new IllegalArgumentException("the manifest has no " + what);
    }
    return Text.requireWellFormed(id);
  }

  /**
   * A CRC32C over a sequence of values. Texts go in with their length, so no two sequences look
   * alike.
   */
  private static final class Checksum {
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);

    Checksum add(String text) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      add(bytes.length);
      crc.update(bytes);
      return this;
    }

    Checksum add(long value) {
      number.clear();
      number.putLong(value);
      number.flip();
      crc.update(number);
      return this;
    }

    Checksum add(Map<String, Long> values) {
      add(values.size());
      new TreeMap<>(values).forEach((key, value) -> add(key).add(value));
      return this;
    }
  }

  /**
   * Collects what a manifest says; files, directories, extra data and statistics may stay empty.
   */
  public static final class Builder {
    private String jobId;
    private int jobAttemptNumber;
    private String taskId;
    private String taskAttemptId;
    private Path taskAttemptDirectory;
    private List<FileEntry> files = List.of();
    private List<DirectoryEntry> directories = List.of();
    private Map<String, String> extraData = new TreeMap<>();
    private IOStatisticsSnapshot statistics = new IOStatisticsSnapshot();

    private Builder() {}

    /** The job, and which attempt of it, from 0. */
    public Builder job(String id, int attemptNumber) {
      this.jobId = id;
      this.jobAttemptNumber = attemptNumber;
      return this;
    }

    /** The task, and the attempt of it. */
    public Builder task(String id, String attemptId) {
      this.taskId = id;
      this.taskAttemptId = attemptId;
      return this;
    }

    /** Where the attempt left its files; absolute. */
    public Builder taskAttemptDirectory(Path directory) {
      this.taskAttemptDirectory = directory;
      return this;
    }

    /** The files to rename. */
    public Builder files(List<FileEntry> entries) {
      this.files = entries;
      return this;
    }

    /** The directories that the files need. */
    public Builder directories(List<DirectoryEntry> entries) {
      this.directories = entries;
      return this;
    }

    /** Anything else. */
    public Builder extraData(Map<String, String> data) {
      this.extraData = new TreeMap<>(data);
      return this;
    }

    /** What the task counted and measured. */
    public Builder statistics(IOStatisticsSnapshot snapshot) {
      this.statistics = Objects.requireNonNull(snapshot);
      return this;
    }

    /**
     * The manifest.
     *
     * @throws IllegalArgumentException if an id or the directory is missing or cannot be written
     */
    public TaskManifest build() {
      return new TaskManifest(this);
    }
  }
}
