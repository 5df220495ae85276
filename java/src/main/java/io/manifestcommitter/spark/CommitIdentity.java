// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.CommitWork;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.manifest.Record;
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
   * ends. To be asked while the places are locked: nobody else commits it meanwhile. One request,
   * and none without an identity.
   *
   * @param held the job that holds it
   * @throws IOException if the identity was for another write of this application
   */
  boolean isElsewhere(Optional<String> held, CommitWork work) throws IOException {
    if (!id.isPresent()) {
      return false;
    }
    Optional<Record> before =
        held.isPresent() ? Optional.empty() : new CommitLedger(store, write.table).find(id.get());
    if (before.isPresent()) {
      write.requireRepetition(before.get());
      work.skipped(before.get().text("jobId"));
    }
    held.ifPresent(work::held);
    Optional<String> other = held.or(() -> before.map(record -> record.text("jobId")));
    other.ifPresent(
        job ->
            LOG.info(
                "Job {} publishes nothing: job {} {} the data of commit.id {} for {}",
                write.jobId,
                job,
                held.isPresent() ? "holds" : "has committed",
                id.get(),
                write.table));
    return other.isPresent();
  }
}
