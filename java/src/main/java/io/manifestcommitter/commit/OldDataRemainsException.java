package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import java.io.IOException;
import java.util.List;

/** An overwrite published its new data and then could not remove all of the old. */
public final class OldDataRemainsException extends IOException {
  private static final long serialVersionUID = 1L;

  OldDataRemainsException(JobPlan plan, int count, List<String> first) {
    super(
        "The new data of job "
            + plan.jobId()
            + " is complete in "
            + plan.table()
            + ", but "
            + count
            + " paths of the data it replaces could not be removed, so the table shows both."
            + " These: "
            + String.join(", ", first)
            + (count > first.size() ? ", ..." : ""));
  }
}
