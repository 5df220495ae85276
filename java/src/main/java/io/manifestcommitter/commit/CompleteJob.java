// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.StatisticNames;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.Swaps.Swap;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * Completes a commit that is past its point of no return: removes what is left of the old data, and
 * makes the report visible. May be repeated from wherever it ended, anywhere.
 */
public final class CompleteJob {
  private final CommitWork work;

  /** Completes the commit of a job. */
  public CompleteJob(CommitWork work) {
    this.work = work;
  }

  /** Completes it. */
  public void run(JobPlan plan) throws IOException {
    work.workers.shield(
        () -> {
          work.enter(StatisticNames.JOB_STAGE_REMOVE_OLD_DATA);
          work.workers.toItsEnd();
          Set<Path> there =
              new FindEntries(work.store, work.workers).run(plan.swaps().asides()).keySet();
          List<Swap> swaps = plan.swaps().all();
          for (int number = 0; number < swaps.size(); number++) {
            if (swaps.get(number).aside().filter(there::contains).isPresent()) {
              work.published.aside(number);
            }
          }
          try {
            ReleaseAsides asides = new ReleaseAsides(work, plan);
            asides.find();
            new RemoveOldData(work, plan).run();
            asides.run();
            work.report.publishPrepared(plan);
          } catch (IOException e) {
            work.advise(e, "is not complete");
            throw e;
          }
        });
  }
}
