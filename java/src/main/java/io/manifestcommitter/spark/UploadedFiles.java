// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.store.StorePaths;
import org.apache.hadoop.fs.Path;

/**
 * The files of a job that attempts uploaded, as entries of its plan. Their sources are names that
 * they would have in the staging directory, where nothing is. Not for use by several threads.
 */
final class UploadedFiles {
  private final StagingRoot staging;
  private String lastLocation;
  private String lastDirectory;
  private Path source;
  private Path destination;

  /**
   * Of one job.
   *
   * @param staging its staging directory in the table
   */
  UploadedFiles(StagingRoot staging) {
    this.staging = staging;
  }

  /**
   * One file.
   *
   * @param location {@link TaskOutput#TABLE}, or the path of a custom location
   * @param directory relative to the location
   */
  FileEntry entry(String location, String directory, String name, UploadedFile file) {
    if (!location.equals(lastLocation) || !directory.equals(lastDirectory)) {
      // The names of one directory come together.
      StagingRoot root =
          location.equals(TaskOutput.TABLE)
              ? staging
              : new StagingRoot(new Path(location), staging.jobId());
      source = StorePaths.resolve(root.output(), directory);
      destination = StorePaths.resolve(root.directory(), directory);
      lastLocation = location;
      lastDirectory = directory;
    }
    return FileEntry.between(
        source, destination, name, new FileIdentity(file.length(), file.etag(), 0));
  }
}
