// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.Optional;

/** Looks at every published file again: one request each, so only where the user asked for it. */
final class ValidateOutput {
  private final Store store;
  private final Workers workers;

  ValidateOutput(Store store, Workers workers) {
    this.store = store;
    this.workers = workers;
  }

  /**
   * Compares length and, where the store has them, etag or modification time.
   *
   * @throws IOException for the first file that is missing or another one
   */
  void run(JobPlan plan) throws IOException {
    workers.forEach(plan.files().iterator(), plan.files().count(), this::validate);
  }

  private void validate(FileEntry file) throws IOException {
    Optional<StoreEntry> published = store.status(file.destination());
    if (!published.isPresent()) {
      throw invalid(file, "nothing is there");
    }
    if (!published.get().isSameFileAs(file)) {
      throw invalid(file, "there is " + published.get());
    }
  }

  private static IOException invalid(FileEntry file, String found) {
    return new IOException(
        "The published file "
            + file.destination()
            + " should have "
            + file.size()
            + " bytes"
            + (file.etag().isEmpty() ? "" : " and etag " + file.etag())
            + ", but "
            + found
            + ". Something else writes to the table, or the store lost a rename: run the job again.");
  }
}
