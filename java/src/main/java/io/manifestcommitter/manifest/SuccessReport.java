// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.JsonGenerator;
import io.manifestcommitter.manifest.JsonReader.BadJsonException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

/**
 * What a job says about itself when it ends: the content of {@code _SUCCESS}, and of the report
 * files of jobs that succeeded or failed. The JSON is the one that Hadoop's S3A and manifest
 * committers share.
 */
public final class SuccessReport {
  /** The name by which a report is recognised, for Hadoop's tools and for ours. */
  public static final String NAME = "org.apache.hadoop.fs.s3a.commit.files.SuccessData/1";

  /** The most files that a report names, as in Hadoop; how many there are is a statistic. */
  public static final int MAX_FILENAMES = 100;

  /** The most bytes that a report can have. */
  public static final int MAX_BYTES = 64 << 20;

  private final long timestamp;
  private final boolean success;
  private final String date;
  private final String hostname;
  private final String committer;
  private final String description;
  private final String jobId;
  private final String jobIdSource;
  private final Map<String, Long> metrics;
  private final Map<String, String> diagnostics;
  private final List<String> filenames;
  private final Statistics statistics;
  private final String state;
  private final String stage;

  private SuccessReport(Builder builder) {
    this.timestamp = builder.timestamp;
    this.success = builder.success;
    this.date = builder.date;
    this.hostname = builder.hostname;
    this.committer = builder.committer;
    this.description = builder.description;
    this.jobId = builder.jobId;
    this.jobIdSource = builder.jobIdSource;
    this.metrics = Collections.unmodifiableMap(new TreeMap<>(builder.metrics));
    this.diagnostics = Collections.unmodifiableMap(new TreeMap<>(builder.diagnostics));
    this.filenames = List.copyOf(builder.filenames);
    this.statistics = builder.statistics;
    this.state = builder.state;
    this.stage = builder.stage;
  }

  /**
   * A report in the making, of a job that succeeded unless {@link Builder#failed} says otherwise.
   */
  public static Builder builder() {
    return new Builder();
  }

  /** What kind of document this is: always {@link #NAME}. */
  public String name() {
    return NAME;
  }

  /** When the report was made, in milliseconds since 1970. */
  public long timestamp() {
    return timestamp;
  }

  /** Whether the job succeeded. */
  public boolean success() {
    return success;
  }

  /** When the report was made, for people. */
  public String date() {
    return date;
  }

  /** The host of the job's driver or application master; empty where unknown. */
  public String hostname() {
    return hostname;
  }

  /** Which committer wrote the report; empty where unknown. */
  public String committer() {
    return committer;
  }

  /** What the committer says about the job; empty where it says nothing. */
  public String description() {
    return description;
  }

  /** The job; empty where unknown. */
  public String jobId() {
    return jobId;
  }

  /** Where the job's id comes from: a configuration key, or {@code JobID}. */
  public String jobIdSource() {
    return jobIdSource;
  }

  /** Numbers of older committers; sorted. */
  public Map<String, Long> metrics() {
    return metrics;
  }

  /** Texts about the job, such as the exception that made it fail; sorted. */
  public Map<String, String> diagnostics() {
    return diagnostics;
  }

  /**
   * The first files of the job, {@link #MAX_FILENAMES} at most; as URIs where this committer wrote
   * them.
   */
  public List<String> filenames() {
    return filenames;
  }

  /** What the job and its tasks counted and measured. */
  public Statistics statistics() {
    return statistics;
  }

  /** The state in which the job ended; empty where unknown. */
  public String state() {
    return state;
  }

  /** The stage in which the job ended; empty where unknown. */
  public String stage() {
    return stage;
  }

  /** The report as JSON. */
  public byte[] toJson() {
    return JsonWriter.object(this::writeTo);
  }

  /**
   * Reads a report of this committer, or of Hadoop's S3A or manifest committer.
   *
   * @param origin the file, for messages
   * @throws CorruptManifestException if it is no such report; the message tells an empty file,
   *     which other committers leave, from a damaged one
   */
  public static SuccessReport parse(byte[] json, String origin) throws CorruptManifestException {
    if (json.length == 0) {
      throw new CorruptManifestException(
          origin
              + " is empty: the job was committed by another committer, such as Hadoop's"
              + " FileOutputCommitter, which leaves no report. To have one, bind the manifest"
              + " committer (for Spark: spark.sql.sources.commitProtocolClass ="
              + " io.manifestcommitter.spark.ManifestCommitProtocol) and run the job again");
    }
    if (json.length > MAX_BYTES) {
      throw corrupt(origin, "it has " + json.length + " bytes, more than " + MAX_BYTES, null);
    }
    try {
      return JsonReader.read(json, SuccessReport::read);
    } catch (BadJsonException e) {
      throw corrupt(origin, e.getMessage(), e);
    }
  }

  @Override
  public boolean equals(Object o) {
    if (!(o instanceof SuccessReport)) {
      return false;
    }
    SuccessReport other = (SuccessReport) o;
    return timestamp == other.timestamp
        && success == other.success
        && date.equals(other.date)
        && hostname.equals(other.hostname)
        && committer.equals(other.committer)
        && description.equals(other.description)
        && jobId.equals(other.jobId)
        && jobIdSource.equals(other.jobIdSource)
        && metrics.equals(other.metrics)
        && diagnostics.equals(other.diagnostics)
        && filenames.equals(other.filenames)
        && statistics.equals(other.statistics)
        && state.equals(other.state)
        && stage.equals(other.stage);
  }

  @Override
  public int hashCode() {
    return Objects.hash(timestamp, success, jobId, filenames, diagnostics, state, stage);
  }

  @Override
  public String toString() {
    return "report of job "
        + jobId
        + (success ? ", which succeeded" : ", which failed")
        + (stage.isEmpty() ? "" : " in stage " + stage);
  }

  private void writeTo(JsonGenerator json) throws IOException {
    json.writeStringField("name", NAME);
    json.writeNumberField("timestamp", timestamp);
    json.writeBooleanField("success", success);
    JsonWriter.optional(json, "date", date);
    JsonWriter.optional(json, "hostname", hostname);
    JsonWriter.optional(json, "committer", committer);
    JsonWriter.optional(json, "description", description);
    json.writeStringField("jobId", jobId);
    json.writeStringField("jobIdSource", jobIdSource);
    JsonWriter.optionalNumbers(json, "metrics", metrics);
    JsonWriter.strings(json, "diagnostics", diagnostics);
    json.writeArrayFieldStart("filenames");
    for (String filename : filenames) {
      json.writeString(filename);
    }
    json.writeEndArray();
    StatisticsJson.write(json, statistics);
    JsonWriter.optional(json, "state", state);
    JsonWriter.optional(json, "stage", stage);
  }

  private static SuccessReport read(JsonReader json) throws IOException {
    Builder builder = new Builder();
    Map<String, String> names = new TreeMap<>();
    json.object(
        field -> {
          switch (field) {
            case "name":
              names.put(field, json.string());
              return true;
            case "timestamp":
              builder.timestamp = json.longNumber();
              return true;
            case "success":
              builder.success = json.bool();
              return true;
            case "date":
              builder.date = json.string();
              return true;
            case "hostname":
              builder.hostname = json.string();
              return true;
            case "committer":
              builder.committer = json.string();
              return true;
            case "description":
              builder.description = json.string();
              return true;
            case "jobId":
              builder.jobId = json.string();
              return true;
            case "jobIdSource":
              builder.jobIdSource = json.string();
              return true;
            case "metrics":
              builder.metrics = json.numbers();
              return true;
            case "diagnostics":
              builder.diagnostics = json.strings();
              return true;
            case "filenames":
              builder.filenames = strings(json);
              return true;
            case StatisticsJson.FIELD:
              builder.statistics = StatisticsJson.read(json);
              return true;
            case "state":
              builder.state = json.string();
              return true;
            case "stage":
              builder.stage = json.string();
              return true;
            default:
              return false;
          }
        });
    String name = JsonReader.required("name", names.get("name"));
    if (!name.equals(NAME)) {
      throw new BadJsonException("its name is '" + name + "', not '" + NAME + "'");
    }
    return builder.build();
  }

  private static List<String> strings(JsonReader json) throws IOException {
    List<String> strings = new ArrayList<>();
    json.array(() -> strings.add(json.string()));
    return strings;
  }

  private static CorruptManifestException corrupt(String origin, String why, Exception cause) {
    return new CorruptManifestException(
        origin
            + " is not a committer's job report: "
            + why
            + ". Give the path of a _SUCCESS file or a summary report; if it is one, it was damaged"
            + " after it was written",
        cause);
  }

  /** Collects what a report says. All texts may stay empty. */
  public static final class Builder {
    private long timestamp;
    private boolean success = true;
    private String date = "";
    private String hostname = "";
    private String committer = "";
    private String description = "";
    private String jobId = "";
    private String jobIdSource = "";
    private Map<String, Long> metrics = Map.of();
    private Map<String, String> diagnostics = new TreeMap<>();
    private List<String> filenames = List.of();
    private Statistics statistics = Statistics.empty();
    private String state = "";
    private String stage = "";

    private Builder() {}

    /** When the report is made; to the millisecond. */
    public Builder at(Instant time) {
      this.timestamp = time.toEpochMilli();
      this.date = Instant.ofEpochMilli(timestamp).toString();
      return this;
    }

    /** The host of the job's driver or application master. */
    public Builder hostname(String host) {
      this.hostname = Text.wellFormed(host);
      return this;
    }

    /** Which committer this is. */
    public Builder committer(String name) {
      this.committer = Text.wellFormed(name);
      return this;
    }

    /** What the committer says about the job. */
    public Builder description(String text) {
      this.description = Text.wellFormed(text);
      return this;
    }

    /**
     * The job.
     *
     * @param id its id
     * @param source where the id comes from: a configuration key, or {@code JobID}
     */
    public Builder job(String id, String source) {
      this.jobId = Text.wellFormed(id);
      this.jobIdSource = Text.wellFormed(source);
      return this;
    }

    /** Numbers that are no statistics. */
    public Builder metrics(Map<String, Long> numbers) {
      TreeMap<String, Long> copy = new TreeMap<>();
      numbers.forEach((key, value) -> copy.put(Text.wellFormed(key), value));
      this.metrics = copy;
      return this;
    }

    /** Adds a text about the job. */
    public Builder diagnostic(String key, String text) {
      this.diagnostics.put(Text.wellFormed(key), Text.wellFormed(text));
      return this;
    }

    /** The files of the job, of which the first {@link #MAX_FILENAMES} are kept. */
    public Builder filenames(Iterable<Path> files) {
      List<String> first = new ArrayList<>();
      for (Path file : files) {
        if (first.size() == MAX_FILENAMES) {
          break;
        }
        first.add(Text.wellFormed(PathText.write(file)));
      }
      this.filenames = first;
      return this;
    }

    /** What the job and its tasks counted and measured. */
    public Builder statistics(Statistics snapshot) {
      this.statistics = Objects.requireNonNull(snapshot);
      return this;
    }

    /** The state in which the job ended, and the stage. */
    public Builder ended(String inState, String inStage) {
      this.state = Text.wellFormed(inState);
      this.stage = Text.wellFormed(inStage);
      return this;
    }

    /** The job did not succeed. */
    public Builder unsuccessful() {
      this.success = false;
      return this;
    }

    /** The job failed: notes the exception and its stack trace among the diagnostics. */
    public Builder failed(Throwable cause) {
      unsuccessful();
      diagnostic("exception", cause.toString());
      StringWriter trace = new StringWriter();
      cause.printStackTrace(new PrintWriter(trace));
      return diagnostic("stacktrace", trace.toString());
    }

    /** The report. */
    public SuccessReport build() {
      return new SuccessReport(this);
    }
  }
}
