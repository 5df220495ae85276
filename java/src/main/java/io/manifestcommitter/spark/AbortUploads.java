// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives up what the committed attempts of a job uploaded that is aborted. */
final class AbortUploads {
  private static final Logger LOG = LoggerFactory.getLogger(AbortUploads.class);

  private final StagingRoot staging;
  private final Store store;
  private final Workers workers;

  AbortUploads(StagingRoot staging, Store store, Workers workers) {
    this.staging = staging;
    this.store = store;
    this.workers = workers;
  }

  /**
   * Gives them up. One request for each. An upload that remains is invisible, and costs what its
   * bytes cost until a lifecycle rule of the bucket or a cleaner removes it.
   *
   * @param messages the commit messages; one that cannot be read is left out
   */
  void run(List<?> messages) throws IOException {
    List<FileEntry> uploads = new ArrayList<>();
    UploadedFiles files = new UploadedFiles(staging);
    for (Object message : messages) {
      try {
        new CommittedFiles(staging.jobId(), List.of(message), UnaryOperator.identity())
            .forEachUpload(
                (number, location, directory, name, file) ->
                    uploads.add(files.entry(location, directory, name, file)));
      } catch (IOException | RuntimeException e) {
        LOG.warn("What an attempt of job {} uploaded is not known", staging.jobId(), e);
      }
    }
    workers.toItsEnd();
    workers.shield(
        () -> {
          workers.forEach(uploads, upload -> Retries.few(() -> store.abortUpload(upload)));
        });
  }
}
