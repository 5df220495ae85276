package io.manifestcommitter.journal;

import io.manifestcommitter.commit.PlanSource;
import io.manifestcommitter.plan.JobPlan;
import java.io.IOException;

/** A job whose plan is in a journal, as something to commit. */
final class ResumedJob implements PlanSource {
  private final CommitJournal journal;
  private final JobPlan plan;

  ResumedJob(CommitJournal journal, JobPlan plan) {
    this.journal = journal;
    this.plan = plan;
  }

  @Override
  public boolean isCommitted() {
    return false;
  }

  @Override
  public boolean isCommittedAfterAll() {
    return false;
  }

  @Override
  public JobPlan plan() {
    return plan;
  }

  /** It is in the journal. */
  @Override
  public void begin(JobPlan begun) {}

  @Override
  public void requireHeld() throws IOException {
    journal.requireHeld();
  }

  @Override
  public void pointOfNoReturn() throws IOException {
    journal.committed();
  }

  @Override
  public void end() throws IOException {
    journal.finished();
  }

  /** Never: whoever recovers chooses the direction. */
  @Override
  public boolean mayTakeBack() {
    return false;
  }

  @Override
  public boolean isRecoverable() {
    return true;
  }
}
