// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.commit.RollBackJob;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.journal.CommitJournal.LostJournalException;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.spark.TableRoot.JobStaging;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreTraits;
import java.io.IOException;

/** What follows the failure of a commit that has written its journal. */
final class RollBackSparkJob {
  private final CommitWork work;
  private final JobPlan plan;
  private final JobStaging staging;
  private final Store store;
  private boolean hasBegun = true;

  RollBackSparkJob(CommitWork work, JobPlan plan, JobStaging staging, Store store) {
    this.work = work;
    this.plan = plan;
    this.staging = staging;
    this.store = store;
  }

  /** Whether anybody can find the journal. */
  boolean hasBegun() {
    return hasBegun;
  }

  /**
   * Rolls the commit back, unless another process has it.
   *
   * @param failure is told what could not be done, and what a user does about it
   * @return how the job ended
   */
  Ending run(CommitJournal journal, Throwable failure) {
    try {
      if (journal.hasNoName()) {
        hasBegun = false;
        discard(journal, failure);
        return Ending.NOTHING_VISIBLE;
      }
      if (journal.revoke()) {
        staging.heartbeat.forgetSilence();
        return new RollBackJob(work, plan).afterFailure(failure)
            ? Ending.NOTHING_VISIBLE
            : Ending.LEFT_BEHIND;
      }
      work.advise(failure, "is not complete and was not rolled back");
    } catch (LostJournalException e) {
      failure.addSuppressed(e);
      // What is where the driver had it came there since: the recovery has the rest.
      StoreTraits traits = store.traits(staging.root.root());
      boolean mayBeOwn = traits.hasAtomicDirectoryRename() || traits.replacesOnlyWhatWasSeen();
      new RollBackJob(work, plan).afterLoss(mayBeOwn, failure);
      work.advise(failure, "was taken over");
    } catch (IOException | RuntimeException | Error e) {
      failure.addSuppressed(e);
      work.advise(failure, "could not be rolled back");
    }
    return Ending.LEFT_BEHIND;
  }

  /** What remains of it is invisible, and goes with the staging directory, or with old uploads. */
  private static void discard(CommitJournal unbegun, Throwable failure) {
    try {
      unbegun.discard();
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    }
  }
}
