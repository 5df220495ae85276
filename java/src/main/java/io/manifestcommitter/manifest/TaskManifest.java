// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.JsonGenerator;
import io.manifestcommitter.manifest.JsonReader.BadJsonException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

/**
 * What one committed task attempt contributes to its job: the files to rename, and the directories
 * they need.
 *
 * <p>The JSON is that of Hadoop's committer, which has no protection against damage. So a CRC32C of
 * everything a manifest says is added to its {@code extraData}, where Hadoop's tools let it pass,
 * and {@link #parse} insists on it: a manifest is either read back equal or not at all.
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

  private final String jobId;
  private final int jobAttemptNumber;
  private final String taskId;
  private final String taskAttemptId;
  private final Path taskAttemptDirectory;
  private final List<FileEntry> files;
  private final List<DirectoryEntry> directories;
  private final Map<String, String> extraData;
  private final Statistics statistics;

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
  public Statistics statistics() {
    return statistics;
  }

  /**
   * The manifest as JSON, with its checksum.
   *
   * @throws IllegalStateException if it is longer than {@link #MAX_BYTES}, so that nobody could
   *     read it
   */
  public byte[] toJson() {
    byte[] json = JsonWriter.object(this::writeTo);
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
    Parsed parsed = parseAny(json, origin);
    if (parsed.checksum == null) {
      throw corrupt(
          origin,
          "it has no checksum (" + CHECKSUM_KEY + " in extraData), so another committer wrote it",
          null);
    }
    return parsed.manifest;
  }

  /**
   * Reads a manifest of ours or of Hadoop's committer: for tools that show it, not for a commit,
   * since Hadoop's have no checksum. One that is there is verified.
   *
   * @param origin the file, for messages
   */
  public static TaskManifest parseForeign(byte[] json, String origin)
      throws CorruptManifestException {
    return parseAny(json, origin).manifest;
  }

  @Override
  public boolean equals(Object o) {
    if (!(o instanceof TaskManifest)) {
      return false;
    }
    TaskManifest other = (TaskManifest) o;
    return jobId.equals(other.jobId)
        && jobAttemptNumber == other.jobAttemptNumber
        && taskId.equals(other.taskId)
        && taskAttemptId.equals(other.taskAttemptId)
        && taskAttemptDirectory.equals(other.taskAttemptDirectory)
        && files.equals(other.files)
        && directories.equals(other.directories)
        && extraData.equals(other.extraData)
        && statistics.equals(other.statistics);
  }

  @Override
  public int hashCode() {
    return Objects.hash(jobId, jobAttemptNumber, taskAttemptId, files, directories, extraData);
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

  private void writeTo(JsonGenerator json) throws IOException {
    json.writeStringField("type", TYPE);
    json.writeNumberField("version", VERSION);
    json.writeStringField("jobId", jobId);
    json.writeNumberField("jobAttemptNumber", jobAttemptNumber);
    json.writeStringField("taskID", taskId);
    json.writeStringField("taskAttemptID", taskAttemptId);
    json.writeStringField("taskAttemptDir", PathText.write(taskAttemptDirectory));
    json.writeArrayFieldStart("files");
    for (FileEntry file : files) {
      json.writeStartObject();
      json.writeStringField("s", PathText.write(file.source()));
      json.writeStringField("d", PathText.write(file.destination()));
      json.writeNumberField("z", file.size());
      JsonWriter.optional(json, "e", file.etag());
      if (file.modificationTime() != 0) {
        json.writeNumberField("m", file.modificationTime());
      }
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeArrayFieldStart("directories");
    for (DirectoryEntry directory : directories) {
      json.writeStartObject();
      json.writeStringField("d", PathText.write(directory.path()));
      json.writeNumberField("t", directory.state().code());
      json.writeNumberField("l", directory.level());
      json.writeEndObject();
    }
    json.writeEndArray();
    Map<String, String> extra = new TreeMap<>(extraData);
    extra.put(CHECKSUM_KEY, checksum());
    JsonWriter.strings(json, "extraData", extra);
    StatisticsJson.write(json, statistics);
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
    checksum.add(statistics.means().size());
    statistics
        .means()
        .forEach((key, mean) -> checksum.add(key).add(mean.samples()).add(mean.sum()));
    return checksum.hex();
  }

  private static Parsed parseAny(byte[] json, String origin) throws CorruptManifestException {
    if (json.length == 0) {
      throw corrupt(origin, "it is empty", null);
    }
    if (json.length > MAX_BYTES) {
      throw corrupt(origin, "it has " + json.length + " bytes, more than " + MAX_BYTES, null);
    }
    try {
      return JsonReader.read(json, TaskManifest::read);
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

  private static Parsed read(JsonReader json) throws IOException {
    Builder builder = new Builder();
    Map<String, String> ids = new TreeMap<>();
    Map<String, Integer> numbers = new TreeMap<>();
    json.object(
        name -> {
          switch (name) {
            case "type":
            case "jobId":
            case "taskID":
            case "taskAttemptID":
            case "taskAttemptDir":
              ids.put(name, json.string());
              return true;
            case "version":
            case "jobAttemptNumber":
              numbers.put(name, json.intNumber());
              return true;
            case "files":
              builder.files(readFiles(json));
              return true;
            case "directories":
              builder.directories(readDirectories(json));
              return true;
            case "extraData":
              builder.extraData(json.strings());
              return true;
            case StatisticsJson.FIELD:
              builder.statistics(StatisticsJson.read(json));
              return true;
            default:
              return false;
          }
        });
    String type = JsonReader.required("type", ids.get("type"));
    int version = JsonReader.required("version", numbers.get("version"));
    if (!type.equals(TYPE) || version != VERSION) {
      throw new BadJsonException("its type is '" + type + "', version " + version);
    }
    String checksum = builder.extraData.remove(CHECKSUM_KEY);
    TaskManifest manifest =
        builder
            .job(
                JsonReader.required("jobId", ids.get("jobId")),
                JsonReader.required("jobAttemptNumber", numbers.get("jobAttemptNumber")))
            .task(
                JsonReader.required("taskID", ids.get("taskID")),
                JsonReader.required("taskAttemptID", ids.get("taskAttemptID")))
            .taskAttemptDirectory(
                PathText.read(JsonReader.required("taskAttemptDir", ids.get("taskAttemptDir"))))
            .build();
    if (checksum != null && !checksum.equals(manifest.checksum())) {
      throw new BadJsonException(
          "its checksum is " + checksum + " but its content gives " + manifest.checksum());
    }
    return new Parsed(manifest, checksum);
  }

  private static List<FileEntry> readFiles(JsonReader json) throws IOException {
    List<FileEntry> files = new ArrayList<>();
    json.array(() -> files.add(readFile(json)));
    return files;
  }

  private static FileEntry readFile(JsonReader json) throws IOException {
    FileFields file = new FileFields();
    json.object(
        name -> {
          switch (name) {
            case "s":
              file.source = json.string();
              return true;
            case "d":
              file.destination = json.string();
              return true;
            case "e":
              file.etag = json.string();
              return true;
            case "z":
              file.size = json.longNumber();
              return true;
            case "m":
              file.modificationTime = json.longNumber();
              return true;
            default:
              return false;
          }
        });
    return new FileEntry(
        PathText.read(JsonReader.required("s", file.source)),
        PathText.read(JsonReader.required("d", file.destination)),
        JsonReader.required("z", file.size),
        file.etag,
        file.modificationTime);
  }

  private static List<DirectoryEntry> readDirectories(JsonReader json) throws IOException {
    List<DirectoryEntry> directories = new ArrayList<>();
    json.array(() -> directories.add(readDirectory(json)));
    return directories;
  }

  private static DirectoryEntry readDirectory(JsonReader json) throws IOException {
    Map<String, String> texts = new TreeMap<>();
    Map<String, Integer> numbers = new TreeMap<>();
    json.object(
        name -> {
          switch (name) {
            case "d":
              texts.put(name, json.string());
              return true;
            case "t":
            case "l":
              numbers.put(name, json.intNumber());
              return true;
            default:
              return false;
          }
        });
    return new DirectoryEntry(
        PathText.read(JsonReader.required("d", texts.get("d"))),
        DirectoryState.of(JsonReader.required("t", numbers.get("t"))),
        JsonReader.required("l", numbers.get("l")));
  }

  private static String requireId(String what, String id) {
    if (id == null || id.isEmpty()) {
      throw new IllegalArgumentException("the manifest has no " + what);
    }
    return Text.requireWellFormed(id);
  }

  /** What was read of a file so far. */
  private static final class FileFields {
    private String source;
    private String destination;
    private String etag;
    private Long size;
    private long modificationTime;
  }

  private static final class Parsed {
    private final TaskManifest manifest;
    private final String checksum;

    private Parsed(TaskManifest manifest, String checksum) {
      this.manifest = manifest;
      this.checksum = checksum;
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
    private Statistics statistics = Statistics.empty();

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
    public Builder statistics(Statistics snapshot) {
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
