// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The identity of one write: {@link CommitterConfig#COMMIT_ID}. Without one, nothing here asks the
 * store.
 */
final class CommitIdentity {
  private static final Logger LOG = LoggerFactory.getLogger(CommitIdentity.class);

  private final WriteRequest write;
  private final Store store;
  private final Optional<String> id;

  CommitIdentity(WriteRequest write, Store store) {
    this.write = write;
    this.store = store;
    this.id = write.config.commitId;
  }

  /**
   * The places that the job locks: two of one identity exclude each other as if both replaced one.
   */
  Collection<Path> lockedWith(Collection<Path> replaced) {
    List<Path> locked = new ArrayList<>(replaced);
    id.map(CommitLedger::lock).ifPresent(locked::add);
    return locked;
  }

  /**
   * Whether another job has the data of this identity: it committed it, or holds it. Then this try
   * ends. To be asked while the places are locked. One request, and none without an identity.
   *
   * @param held the job that holds it
   * @throws IOException if the identity was for another write of this application
   */
  boolean isElsewhere(Optional<String> held, CommitWork work) throws IOException {
    if (held.isPresent()) {
      LOG.info(
          "Job {} publishes nothing: job {} holds the data of commit.id {} for {}. Publish or discard"
              + " that",
          write.jobId,
          held.get(),
          id.get(),
          write.table);
      work.held(held.get());
      return true;
    }
    Optional<CommitLedger.Entry> before = committedBefore();
    before.ifPresent(entry -> work.skipped(entry.jobId));
    return before.isPresent();
  }

  /**
   * The commit that brought the data of this identity into the table, if it has it. Nobody else
   * commits it while the places are locked.
   */
  private Optional<CommitLedger.Entry> committedBefore() throws IOException {
    if (!id.isPresent()) {
      return Optional.empty();
    }
    Optional<CommitLedger.Entry> before = new CommitLedger(store, write.table).find(id.get());
    if (before.isPresent()) {
      write.requireRepetition(before.get());
      LOG.info(
          "Job {} publishes nothing: {} has the data of commit.id {} from job {}",
          write.jobId,
          write.table,
          id.get(),
          before.get().jobId);
    }
    return before;
  }
}
