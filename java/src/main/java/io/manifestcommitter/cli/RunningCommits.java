package io.manifestcommitter.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import io.manifestcommitter.progress.CommitSnapshot;
import io.manifestcommitter.progress.Commits;
import io.manifestcommitter.progress.Step;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The commits of this JVM, for the Python package. */
public final class RunningCommits {
  private RunningCommits() {}

  /**
   * The commits that run, the first first, and then the last ones that ended.
   *
   * @return an array with an object for each, with all keys always there; {@code secondsLeft},
   *     {@code waitingFor} and {@code waitingWhy} may be null
   */
  public static String ofSession() {
    List<CommitSnapshot> commits = new ArrayList<>(Commits.running());
    commits.addAll(Commits.ended());
    return Json.line(
        json -> {
          json.writeStartArray();
          for (CommitSnapshot commit : commits) {
            write(commit, json);
          }
          json.writeEndArray();
        });
  }

  private static void write(CommitSnapshot commit, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("kind", commit.kind().name().toLowerCase(Locale.ROOT));
    json.writeStringField("state", commit.state().name().toLowerCase(Locale.ROOT));
    json.writeStringField("jobId", commit.jobId());
    json.writeStringField("table", commit.table());
    json.writeStringField("step", commit.step());
    json.writeNumberField("startedAt", commit.startedAt());
    json.writeNumberField("millis", commit.millis());
    json.writeNumberField("done", commit.done());
    json.writeNumberField("total", commit.total());
    json.writeNumberField("perSecond", commit.perSecond());
    if (commit.secondsLeft().isPresent()) {
      json.writeNumberField("secondsLeft", commit.secondsLeft().getAsLong());
    } else {
      json.writeNullField("secondsLeft");
    }
    json.writeStringField("waitingFor", commit.waiting().map(one -> one.jobId()).orElse(null));
    json.writeStringField("waitingWhy", commit.waiting().map(one -> one.why()).orElse(null));
    json.writeNumberField("requests", commit.requests());
    json.writeNumberField("throttled", commit.refusals());
    json.writeObjectFieldStart("counters");
    for (Map.Entry<String, Long> counter : commit.statistics().counters().entrySet()) {
      json.writeNumberField(counter.getKey(), counter.getValue());
    }
    json.writeEndObject();
    json.writeArrayFieldStart("steps");
    for (Step step : commit.steps()) {
      json.writeStartObject();
      json.writeStringField("name", step.shortName());
      json.writeNumberField("start", step.startMillis());
      json.writeNumberField("millis", step.millis());
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }
}
