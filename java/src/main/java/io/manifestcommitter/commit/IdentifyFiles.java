// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.List;

/**
 * Learns what identifies the files of a listing, in parallel, where the listing does not show it
 * and the store can tell.
 */
public final class IdentifyFiles {
  private final Store store;
  private final Workers workers;

  /** A step. */
  public IdentifyFiles(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * The same files, in the same order, with all that identifies them.
   *
   * @param files of one store
   */
  public List<StoreEntry> run(List<StoreEntry> files) throws IOException {
    return files.isEmpty() || !store.traits(files.get(0).path()).identityCostsRequest()
        ? files
        : workers.map(files, store::identified);
  }
}
