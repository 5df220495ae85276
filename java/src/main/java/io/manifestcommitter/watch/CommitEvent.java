// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.watch;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import io.manifestcommitter.progress.CommitSnapshot;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * A commit, or a recovery, has ended. Posted to Spark's listener bus, so it is in the event log,
 * too, as {@code {"Event":"io.manifestcommitter.watch.CommitEvent", ...}}; a reader without this
 * class skips it.
 */
public final class CommitEvent implements SparkListenerEvent {
  private final Map<String, Object> fields = new LinkedHashMap<>();

  /** To be filled from an event log. */
  CommitEvent() {}

  CommitEvent(CommitSnapshot commit) {
    fields.putAll(commit.toMap());
  }

  /** What {@link CommitSnapshot#toMap} tells. */
  @JsonAnyGetter
  public Map<String, Object> fields() {
    return Collections.unmodifiableMap(fields);
  }

  @JsonAnySetter
  void field(String name, Object value) {
    fields.put(name, value);
  }

  @Override
  public String toString() {
    return fields.get("kind") + " of job " + fields.get("jobId") + ": " + fields.get("state");
  }
}
