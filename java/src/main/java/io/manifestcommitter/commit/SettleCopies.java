// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StoreTraits;
import java.io.IOException;
import java.util.Optional;

/**
 * Where a rename is a copy and a deletion, one that was cut short between them leaves a file at
 * both ends. Removes the copy, or the part of one, so that the file is at one end again, as after
 * any rename. What may have stood at the destination before the commit began stays.
 */
final class SettleCopies {
  private final Store store;
  private final JobPlan plan;
  private final ReplacedFiles replaced;

  SettleCopies(Store store, JobPlan plan, ReplacedFiles replaced) {
    this.store = store;
    this.plan = plan;
    this.replaced = replaced;
  }

  /**
   * Settles one file. No request where a rename never leaves both ends; else up to four.
   *
   * @return whether a copy was removed
   */
  boolean run(FileEntry file) throws IOException {
    StoreTraits traits = store.traits(file.destination());
    if (!traits.fileRename().mayLeaveBothEnds() || traits.completesUploads()) {
      return false;
    }
    store.removePartialCopy(file);
    Optional<StoreEntry> source = store.status(file.source());
    if (!source.isPresent()) {
      return false;
    }
    Optional<StoreEntry> there = store.status(file.destination());
    if (!there.isPresent() || !isOurs(file, there.get(), traits)) {
      return false;
    }
    if (source.get().isSameFileAs(file)) {
      store.deleteFile(file.destination());
      return true;
    }
    if (there.get().isSameFileAs(file)) {
      // A part of the file, which was on its way back.
      store.deleteFile(file.source());
      return true;
    }
    return false;
  }

  private boolean isOurs(FileEntry file, StoreEntry there, StoreTraits traits) throws IOException {
    if (there.isDirectory() || plan.takes(there.path())) {
      return false;
    }
    if (traits.renameKeepsModificationTime()) {
      return there.isSameFileAs(file);
    }
    // What stood there first has to be aside, whole, before a copy can be there.
    return plan.occupants().wasFree(there.path())
        || (!plan.occupants().mayBe(there) && replaced.holds(there.path()));
  }
}
