// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import org.apache.hadoop.fs.Path;

/**
 * Takes what a driver staged, and what it moved aside, out of its reach, before anybody looks at
 * how far its commit came. A driver that was taken for dead, and lives, can then publish nothing
 * more, nor move more old data, whatever it still asks for. A recovery that takes the commit over
 * from another recovery does the same to that one.
 *
 * <p>Only where directories are renamed atomically. Elsewhere the journal and the sources of the
 * files decide: see {@link io.manifestcommitter.commit.RollBackJob}.
 */
final class Fence {
  /**
   * How often another recovery may have taken a directory first. Only one recovery has the journal.
   */
  private static final int ROUNDS = 10;

  private final Store store;
  private final Workers workers;
  private final JobPlan plan;
  private final CommitJournal journal;
  private final StagingRoot before;

  /**
   * A step of a recovery that has the journal.
   *
   * @param journal which this process has claimed
   * @param before the job's staging directory in the table, as the previous holder of the journal
   *     has it
   */
  Fence(Store store, Workers workers, JobPlan plan, CommitJournal journal, StagingRoot before) {
    this.store = store;
    this.workers = workers;
    this.plan = plan;
    this.journal = journal;
    this.before = before;
  }

  /**
   * Sets the fence. In parallel, two requests for the table, two for each custom location whose
   * data is replaced, and one for each other location. A few more where there is nothing to take,
   * or where the previous holder of the journal died before it took that.
   */
  void run() throws IOException {
    Set<Path> asides = new HashSet<>();
    plan.swaps.asides().forEach(aside -> asides.add(aside.getParent()));
    workers.forEach(
        plan.targets,
        target -> {
          if (store.traits(target.staging).hasAtomicDirectoryRename()) {
            StagingRoot from =
                new StagingRoot(target.directory, before.jobId()).heldBy(before.holder());
            StagingRoot to = from.heldBy(journal.holder());
            take(from.sealed(), to.sealed(), StagingRoot::holderOfSealed);
            // Nobody makes a directory for what moves where nothing does.
            boolean isTable = target.directory.equals(plan.table);
            if (asides.contains(to.old()) || (plan.marksSuccess && isTable)) {
              take(from.old(), to.old(), StagingRoot::holderOfOld);
            }
          }
        });
  }

  private void take(Path from, Path to, Function<String, OptionalInt> holderOf) throws IOException {
    Optional<Path> there = Optional.of(from);
    for (int round = 1; there.isPresent(); round++) {
      RenameResult result = store.renameDirectory(there.get(), to);
      if (result.isDone() || store.status(to).isPresent()) {
        return;
      }
      if (round == ROUNDS) {
        throw result.failure("Could not take over " + there.get());
      }
      there = find(to.getParent(), holderOf);
      // What a later recovery has taken belongs to it: it has the journal, too.
      journal.requireHeld();
    }
  }

  /**
   * Where the directory to take is; empty if there is none. A driver or an earlier recovery that
   * lost it may have made one again, for a report: of several, the fullest is the one to take.
   */
  private Optional<Path> find(Path parent, Function<String, OptionalInt> holderOf)
      throws IOException {
    Map<Path, Integer> found = new HashMap<>();
    store.listIfThere(
        parent,
        entry -> {
          if (entry.isDirectory() && holderOf.apply(entry.name()).isPresent()) {
            found.put(entry.path(), 0);
          }
        });
    if (found.size() < 2) {
      return found.keySet().stream().findFirst();
    }
    for (Path directory : List.copyOf(found.keySet())) {
      store.listIfThere(directory, entry -> found.merge(directory, 1, Integer::sum));
    }
    return found.keySet().stream().max(Comparator.comparing(found::get));
  }
}
