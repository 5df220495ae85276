// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.plan.JobPlan;
import java.io.IOException;
import java.util.List;

/** An overwrite moved data of another job aside and could not return it. */
public final class ForeignDataAsideException extends IOException {
  private static final long serialVersionUID = 1L;
  private static final int NAMED = 20;

  ForeignDataAsideException(JobPlan plan, List<String> left) {
    super(
        "The new data of job "
            + plan.jobId()
            + " is complete in "
            + plan.table()
            + ", and the data that it replaces is out of sight. With it is data that another job wrote"
            + " in the meantime and that could not be moved back to its place. None of that was"
            + " deleted: "
            + String.join(", ", left.subList(0, Math.min(NAMED, left.size())))
            + (left.size() > NAMED ? ", ..." : ""));
  }
}
