// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.util.StringUtils;

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

  /** All fields, in Hadoop's order. */
  private static final List<String> FIELDS =
      List.of(
          ("name timestamp success date hostname committer description jobId jobIdSource metrics"
                  + " diagnostics filenames "
                  + StatisticsRecorder.FIELD
                  + " state stage")
              .split(" "));

  private static final List<String> TEXTS =
      List.of("date hostname committer description jobId jobIdSource state stage".split(" "));

  private final Record fields;
  private final IOStatisticsSnapshot statistics;

  /** Of fields whose types are checked here: the fault is the document's, not the caller's. */
  private SuccessReport(Record fields) {
    this.fields = fields;
    this.statistics = StatisticsRecorder.in(fields);
    if (!fields.text("name").equals(NAME)) {
      throw new IllegalArgumentException(
          "its name is '" + fields.text("name") + "', not '" + NAME + "'");
    }
    timestamp();
    success();
    diagnostics();
    filenames();
    fields.numbers("metrics");
    TEXTS.forEach(fields::textOrEmpty);
  }

  /**
   * A report in the making, of a job that succeeded unless {@link Builder#failed} says otherwise.
   */
  public static Builder builder() {
    return new Builder();
  }

  /** When the report was made, in milliseconds since 1970. */
  public long timestamp() {
    return fields.has("timestamp") ? fields.wholeNumber("timestamp") : 0;
  }

  public boolean success() {
    return !fields.has("success") || fields.isTrue("success");
  }

  /** The host of the job's driver or application master; empty where unknown. */
  public String hostname() {
    return fields.textOrEmpty("hostname");
  }

  /** Which committer wrote the report; empty where unknown. */
  public String committer() {
    return fields.textOrEmpty("committer");
  }

  /** What the committer says about the job; empty where it says nothing. */
  public String description() {
    return fields.textOrEmpty("description");
  }

  /** The job; empty where unknown. */
  public String jobId() {
    return fields.textOrEmpty("jobId");
  }

  /** Texts about the job, such as the exception that made it fail; sorted. */
  public Map<String, String> diagnostics() {
    return fields.texts("diagnostics");
  }

  /**
   * The first files of the job, {@link #MAX_FILENAMES} at most; as URIs where this committer wrote
   * them.
   */
  public List<String> filenames() {
    return fields.list("filenames");
  }

  /** What the job and its tasks counted and measured. */
  public IOStatisticsSnapshot statistics() {
    return statistics;
  }

  /** The state in which the job ended; empty where unknown. */
  public String state() {
    return fields.textOrEmpty("state");
  }

  /** The stage in which the job ended; empty where unknown. */
  public String stage() {
    return fields.textOrEmpty("stage");
  }

  public byte[] toJson() {
    Map<String, Object> ordered = new LinkedHashMap<>();
    FIELDS.stream()
        .filter(fields::has)
        .forEach(field -> ordered.put(field, fields.fields.get(field)));
    ordered.computeIfPresent(
        StatisticsRecorder.FIELD, (name, read) -> StatisticsRecorder.toJson(statistics));
    return Record.toJson(ordered);
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
    try {
      if (json.length > MAX_BYTES) {
        throw new IllegalArgumentException(
            "it has " + json.length + " bytes, more than " + MAX_BYTES);
      }
      return new SuccessReport(Record.read(json, FIELDS::contains, Map.of()));
    } catch (IllegalArgumentException e) {
      throw new CorruptManifestException(
          origin
              + " is not a committer's job report: "
              + e.getMessage()
              + ". Give the path of a _SUCCESS file or a summary report; if it is one, it was"
              + " damaged after it was written",
          e);
    }
  }

  /** Collects what a report says. All texts may stay empty. */
  public static final class Builder {
    private final Map<String, Object> fields = new TreeMap<>();
    private final Map<String, String> diagnostics = new TreeMap<>();

    /** With what Hadoop's readers find in every report. */
    private Builder() {
      fields.put("name", NAME);
      fields.put("timestamp", 0L);
      fields.put("success", true);
      fields.put("filenames", List.of());
      job("", "");
    }

    private Builder with(String field, String text) {
      if (!text.isEmpty() || field.startsWith("job")) {
        fields.put(field, PathText.wellFormed(text));
      }
      return this;
    }

    /** When the report is made; to the millisecond. */
    public Builder at(Instant time) {
      fields.put("timestamp", time.toEpochMilli());
      return with("date", time.truncatedTo(ChronoUnit.MILLIS).toString());
    }

    public Builder hostname(String host) {
      return with("hostname", host);
    }

    public Builder committer(String name) {
      return with("committer", name);
    }

    public Builder description(String text) {
      return with("description", text);
    }

    /**
     * The job.
     *
     * @param id its id
     * @param source where the id comes from: a configuration key, or {@code JobID}
     */
    public Builder job(String id, String source) {
      return with("jobId", id).with("jobIdSource", source);
    }

    /** Adds a text about the job. */
    public Builder diagnostic(String key, String text) {
      diagnostics.put(PathText.wellFormed(key), PathText.wellFormed(text));
      return this;
    }

    /** Adds what is more than a text, as JSON: Hadoop's format has texts only. */
    public Builder diagnostic(String key, List<? extends Map<String, ?>> objects) {
      return diagnostic(key, new String(Record.toJson(objects), StandardCharsets.UTF_8));
    }

    /** The files of the job, of which the first {@link #MAX_FILENAMES} are kept. */
    public Builder filenames(Stream<Path> files) {
      Stream<String> first = files.limit(MAX_FILENAMES).map(PathText::write);
      fields.put("filenames", first.map(PathText::wellFormed).collect(Collectors.toList()));
      return this;
    }

    public Builder statistics(IOStatistics snapshot) {
      Map<String, Object> measured = StatisticsRecorder.toJson(snapshot);
      if (!measured.isEmpty()) {
        fields.put(StatisticsRecorder.FIELD, measured);
      }
      return this;
    }

    /** The state in which the job ended, and the stage. */
    public Builder ended(String inState, String inStage) {
      return with("state", inState).with("stage", inStage);
    }

    /** The job did not succeed. */
    public Builder unsuccessful() {
      fields.put("success", false);
      return this;
    }

    /** The job failed: notes the exception and its stack trace among the diagnostics. */
    public Builder failed(Throwable cause) {
      return unsuccessful()
          .diagnostic("exception", cause.toString())
          .diagnostic("stacktrace", StringUtils.stringifyException(cause));
    }

    public SuccessReport build() {
      Map<String, Object> copy = new TreeMap<>(fields);
      copy.put("diagnostics", new TreeMap<>(diagnostics));
      return new SuccessReport(new Record(copy));
    }
  }
}
