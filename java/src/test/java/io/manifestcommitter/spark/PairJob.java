package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.util.Map;
import java.util.NavigableMap;

/** A write of the Spark protocol: its setup, its tasks, its commit; or its abort, if that fails. */
final class PairJob extends PairParty implements PairWriter {
  private final CrashStore store;
  private final PairWrite write;
  private final PairRace race;
  private String unfinishedJobs = "rollback";

  PairJob(CrashStore store, PairWrite write, String name, String jobId, PairRace race) {
    super(name, jobId);
    this.store = store;
    this.write = write;
    this.race = race;
  }

  /** What it does about unfinished commits of others. */
  PairJob settling(String mode) {
    unfinishedJobs = mode;
    return this;
  }

  @Override
  void act() throws IOException {
    CrashJob job =
        new CrashJob(store, jobId())
            .with(MemoryFileSystem.CLIENT, name())
            .with(CommitterConfig.UNFINISHED_JOBS, unfinishedJobs)
            .waiting(() -> race.waits(this));
    write.setUp(job, store, name());
    try {
      job.commit();
    } catch (IOException | RuntimeException e) {
      if (!race.isDead(this)) {
        job.abort();
      }
      throw e;
    }
  }

  @Override
  public String word() {
    return name();
  }

  @Override
  public boolean isAppend() {
    return write.isAppend();
  }

  @Override
  public boolean isReplaced(String path) {
    return write.isReplaced(path);
  }

  @Override
  public NavigableMap<String, String> rows() {
    return write.rows(name());
  }

  @Override
  public NavigableMap<String, String> after(Map<String, String> before) {
    return write.after(name(), before);
  }
}
