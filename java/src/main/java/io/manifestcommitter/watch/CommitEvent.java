package io.manifestcommitter.watch;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.progress.CommitSnapshot;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * A commit, or a recovery, has ended. Posted to Spark's listener bus, so it is in the event log,
 * too, as {@code {"Event":"io.manifestcommitter.watch.CommitEvent", ...}}; a reader without this
 * class skips it.
 */
@JsonAutoDetect(
    fieldVisibility = JsonAutoDetect.Visibility.ANY,
    getterVisibility = JsonAutoDetect.Visibility.NONE,
    isGetterVisibility = JsonAutoDetect.Visibility.NONE)
@JsonIgnoreProperties(ignoreUnknown = true)
public final class CommitEvent implements SparkListenerEvent {
  private final String kind;
  private final String state;
  private final String jobId;
  private final String table;
  private final String step;
  private final long startedAt;
  private final long millis;
  private final long files;
  private final long bytes;
  private final long requests;
  private final long throttled;
  private final Map<String, Long> counters;

  CommitEvent(CommitSnapshot commit) {
    this(
        commit.kind().name().toLowerCase(Locale.ROOT),
        commit.state().name().toLowerCase(Locale.ROOT),
        commit.jobId(),
        commit.table(),
        commit.step(),
        commit.startedAt(),
        commit.millis(),
        commit.counter(StatisticNames.COMMITTER_FILES_COMMITTED),
        commit.counter(StatisticNames.COMMITTER_BYTES_COMMITTED),
        commit.requests(),
        commit.refusals(),
        commit.statistics().counters());
  }

  /** As read from an event log. */
  @JsonCreator
  CommitEvent(
      @JsonProperty("kind") String kind,
      @JsonProperty("state") String state,
      @JsonProperty("jobId") String jobId,
      @JsonProperty("table") String table,
      @JsonProperty("step") String step,
      @JsonProperty("startedAt") long startedAt,
      @JsonProperty("millis") long millis,
      @JsonProperty("files") long files,
      @JsonProperty("bytes") long bytes,
      @JsonProperty("requests") long requests,
      @JsonProperty("throttled") long throttled,
      @JsonProperty("counters") Map<String, Long> counters) {
    this.kind = kind;
    this.state = state;
    this.jobId = jobId;
    this.table = table;
    this.step = step;
    this.startedAt = startedAt;
    this.millis = millis;
    this.files = files;
    this.bytes = bytes;
    this.requests = requests;
    this.throttled = throttled;
    this.counters = counters == null ? Map.of() : new TreeMap<>(counters);
  }

  /** {@code commit} or {@code recovery}. */
  public String kind() {
    return kind;
  }

  /** {@code committed}, {@code failed} or {@code rolled_back}. */
  public String state() {
    return state;
  }

  /** The job. */
  public String jobId() {
    return jobId;
  }

  /** The table's directory, qualified. */
  public String table() {
    return table;
  }

  /** The step in which it ended, as in reports. */
  public String step() {
    return step;
  }

  /** When it began, in milliseconds since 1970. */
  public long startedAt() {
    return startedAt;
  }

  /** How long it took, in milliseconds. */
  public long millis() {
    return millis;
  }

  /** How many files it made visible. */
  public long files() {
    return files;
  }

  /** The sum of their lengths. */
  public long bytes() {
    return bytes;
  }

  /** How many requests it made to the store. */
  public long requests() {
    return requests;
  }

  /** How many of them the store refused because there were too many. */
  public long throttled() {
    return throttled;
  }

  /** All that it counted, by the names in reports. */
  public Map<String, Long> counters() {
    return counters;
  }

  @Override
  public String toString() {
    return kind + " of job " + jobId + " into " + table + ": " + state;
  }
}
