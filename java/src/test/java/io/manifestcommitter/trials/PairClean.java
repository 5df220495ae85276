// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns;
import io.manifestcommitter.jobs.Pause;
import io.manifestcommitter.jobs.StagedJob;
import io.manifestcommitter.jobs.StagedJobs;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.PassingTime;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;

/**
 * Removes what dead jobs left in a table, whatever its age, as {@code manifest-committer clean}.
 */
final class PairClean extends PairParty {
  private final CrashStore store;

  PairClean(CrashStore store, String name) {
    super(name, "");
    this.store = store;
  }

  @Override
  void act() throws IOException {
    Configuration conf = store.configuration();
    conf.set(MemoryFileSystem.CLIENT, name());
    Store stores = new Stores(conf).all();
    CommitterConfig config = new CommitterConfig(conf);
    Pause pause = new PassingTime();
    LifeSigns signs = new LifeSigns(stores, config, pause::nanos);
    StagedJobs jobs = new StagedJobs(stores, config);
    for (StagedJob job : jobs.find(store.path(CrashStore.TABLE), TimeUnit.DAYS.toMillis(1))) {
      if (job.state() == StagedJob.State.ABANDONED) {
        jobs.remove(job, /* force= */ false, signs, pause);
      }
    }
  }
}
