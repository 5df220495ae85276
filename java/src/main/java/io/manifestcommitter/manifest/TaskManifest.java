// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatistics;
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

  private static final int VERSION = 1;

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
                  + StatisticsRecorder.FIELD)
              .split(" "));

  public final String jobId;

  /** Which attempt of the job, from 0. */
  public final int jobAttemptNumber;

  public final String taskId;
  public final String taskAttemptId;
  public final Path taskAttemptDirectory;
  public final List<FileEntry> files;
  public final List<Directory> directories;

  /** Anything else, without the checksum; sorted. */
  public final Map<String, String> extraData;

  public final IOStatisticsSnapshot statistics;

  /**
   * What a task attempt contributes.
   *
   * @param jobAttemptNumber from 0
   * @param taskAttemptDirectory where the attempt left its files; absolute
   * @param directories that the files need
   * @param extraData anything else
   * @param statistics what the task counted and measured
   * @throws IllegalArgumentException if an id is missing, or something cannot be written
   */
  public TaskManifest(
      String jobId,
      int jobAttemptNumber,
      String taskId,
      String taskAttemptId,
      Path taskAttemptDirectory,
      List<FileEntry> files,
      List<Directory> directories,
      Map<String, String> extraData,
      IOStatistics statistics) {
    this.jobId = requireId("job id", jobId);
    this.jobAttemptNumber = jobAttemptNumber;
    if (jobAttemptNumber < 0) {
      throw new IllegalArgumentException("the job attempt " + jobAttemptNumber + " is negative");
    }
    this.taskId = requireId("task id", taskId);
    this.taskAttemptId = requireId("task attempt id", taskAttemptId);
    this.taskAttemptDirectory = PathText.canonical(taskAttemptDirectory);
    this.files = List.copyOf(files);
    this.directories = List.copyOf(directories);
    this.extraData = Collections.unmodifiableMap(new TreeMap<>(extraData));
    extraData.forEach(
        (key, value) -> {
          PathText.requireWellFormed(key);
          PathText.requireWellFormed(value);
        });
    if (extraData.containsKey(CHECKSUM_KEY)) {
      throw new IllegalArgumentException(
          "the key " + CHECKSUM_KEY + " of extraData is kept for the checksum");
    }
    this.statistics = StatisticsRecorder.telling(statistics);
  }

  /** The most bytes of a manifest that this JVM's memory allows for. */
  public static int longest() {
    return (int) Math.min(MAX_BYTES, Runtime.getRuntime().maxMemory() / HEAP_FOR_BYTE);
  }

  /**
   * The manifest as JSON, with its checksum.
   *
   * @throws IllegalStateException if it is longer than {@link #MAX_BYTES}, so that nobody could
   *     read it
   */
  public byte[] toJson() {
    Map<String, String> extra = new TreeMap<>(extraData);
    extra.put(CHECKSUM_KEY, checksum());
    byte[] json = Record.toJson(fields(extra));
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
    return parse(json, origin, true);
  }

  /**
   * Reads a manifest of ours or of Hadoop's committer: for tools that show it, not for a commit,
   * since Hadoop's have no checksum. One that is there is verified.
   *
   * @param origin the file, for messages
   */
  public static TaskManifest parseForeign(byte[] json, String origin)
      throws CorruptManifestException {
    return parse(json, origin, false);
  }

  @Override
  public String toString() {
    return "manifest of task attempt "
        + taskAttemptId
        + " of job "
        + jobId
        + " with "
        + files.size()
        + " files";
  }

  private Map<String, Object> fields(Map<String, String> extra) {
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
    fields.put("extraData", extra);
    Map<String, Object> measured = StatisticsRecorder.toJson(statistics);
    if (!measured.isEmpty()) {
      fields.put(StatisticsRecorder.FIELD, measured);
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

  private static Map<String, Object> fields(Directory directory) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("d", PathText.write(directory.path));
    fields.put("t", directory.state);
    fields.put("l", directory.level);
    return fields;
  }

  /** The checksum of all that the manifest says, in the one form that its fields have. */
  private String checksum() {
    CRC32C checksum = new CRC32C();
    try {
      Record.MAPPER.writeValue(
          new CheckedOutputStream(OutputStream.nullOutputStream(), checksum), fields(extraData));
    } catch (IOException e) {
      throw new UncheckedIOException("Writing to nowhere failed", e);
    }
    return RecordFile.hex(checksum);
  }

  private static TaskManifest parse(byte[] json, String origin, boolean insistsOnChecksum)
      throws CorruptManifestException {
    List<FileEntry> files = new ArrayList<>();
    List<Directory> directories = new ArrayList<>();
    try {
      if (json.length == 0 || json.length > MAX_BYTES) {
        throw new IllegalArgumentException(
            "it has " + json.length + " bytes, and not 1 to " + MAX_BYTES);
      }
      Record document =
          Record.read(
              json,
              FIELDS::contains,
              Map.of(
                  "files", file -> files.add(file(file)),
                  "directories", directory -> directories.add(directory(directory))));
      return read(document, files, directories, insistsOnChecksum);
    } catch (IllegalArgumentException e) {
      throw new CorruptManifestException(
          origin
              + " is not a manifest that can be committed: "
              + e.getMessage()
              + ". Nothing may be published from it: run the job again; if it was written by this"
              + " job and not touched since, report it with the file",
          e);
    }
  }

  private static TaskManifest read(
      Record json, List<FileEntry> files, List<Directory> directories, boolean insistsOnChecksum) {
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
        new TaskManifest(
            json.text("jobId"),
            json.smallNumber("jobAttemptNumber"),
            json.text("taskID"),
            json.text("taskAttemptID"),
            PathText.read(json.text("taskAttemptDir")),
            files,
            directories,
            extraData,
            StatisticsRecorder.in(json));
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

  private static Directory directory(Record directory) {
    return new Directory(
        PathText.read(directory.text("d")), directory.smallNumber("t"), directory.smallNumber("l"));
  }

  private static String requireId(String what, String id) {
    if (id == null || id.isEmpty()) {
      throw new IllegalArgumentException("the manifest has no " + what);
    }
    return PathText.requireWellFormed(id);
  }

  /** One directory that a task's files need at the destination. */
  public static final class Directory {
    /** The last of Hadoop's codes of what a task found there; 0 is that nobody looked. */
    private static final int LAST_STATE = 4;

    public final Path path;
    public final int level;
    private final int state;

    /**
     * A directory.
     *
     * @param path where it has to be; absolute
     * @param level how many levels below the table's root, which is 0
     * @throws IllegalArgumentException if the path is relative or has a component that is empty,
     *     {@code .} or {@code ..}, or if the level is negative
     */
    public Directory(Path path, int level) {
      this(path, 0, level);
    }

    private Directory(Path path, int state, int level) {
      this.path = PathText.canonical(path);
      this.state = state;
      this.level = level;
      if (state < 0 || state > LAST_STATE || level < 0) {
        throw new IllegalArgumentException(
            "the directory " + path + " is of type " + state + " and level " + level);
      }
    }
  }
}
