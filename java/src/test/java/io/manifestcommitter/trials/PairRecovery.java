// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.Recoveries;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;

/** Recovers all dead jobs of a table, as {@code manifest-committer recover} does. */
final class PairRecovery extends PairParty {
  private final CrashStore store;
  private final Direction direction;

  /**
   * A recovery.
   *
   * @param dead the job that is to be recovered
   */
  PairRecovery(CrashStore store, String name, String dead, Direction direction) {
    super(name, dead);
    this.store = store;
    this.direction = direction;
  }

  @Override
  void act() throws IOException {
    Configuration conf = store.configuration();
    conf.set(MemoryFileSystem.CLIENT, name());
    Recovery recovery = Recoveries.of(conf, /* force= */ false);
    for (StagingRoot root : recovery.find(store.path(CrashStore.TABLE))) {
      if (root.jobId().equals(jobId())) {
        recovery.run(root, direction);
      }
    }
  }
}
