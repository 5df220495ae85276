// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Retries;
import java.io.IOException;
import org.apache.hadoop.util.functional.InvocationRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notes the identity of a commit where other jobs of the same identity look. Nobody rolls the
 * commit back any more. Until the identity is noted, the journal has it, and stays.
 */
final class NoteIdentity {
  private static final Logger LOG = LoggerFactory.getLogger(NoteIdentity.class);

  private final CommitWork work;
  private final JobPlan plan;

  /** A step past the point of no return. */
  NoteIdentity(CommitWork work, JobPlan plan) {
    this.work = work;
    this.plan = plan;
  }

  /**
   * Notes it, and removes the old data. A full disk may have room for it only once that is gone.
   * One request, if the job has an identity, and those of the removal.
   */
  void beside(InvocationRaisingIOE removal) throws IOException {
    boolean isNoted = false;
    try {
      run();
      isNoted = true;
    } catch (IOException e) {
      LOG.warn("The identity of {} could not be noted yet", plan, e);
    }
    try {
      removal.apply();
    } finally {
      if (!isNoted) {
        run();
      }
    }
  }

  private void run() throws IOException {
    if (plan.commitId().isPresent()) {
      CommitLedger ledger = new CommitLedger(work.store, plan.table());
      String application = work.job.facts.get("application.id");
      Retries.few(() -> ledger.add(plan.commitId().get(), plan.jobId(), application));
    }
  }
}
