// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import io.manifestcommitter.layout.JobPaths;
import java.io.IOException;

/**
 * There are manifests of another job under this job's id. What is there is not this job's to use,
 * nor to remove.
 */
public final class DuplicateJobException extends IOException {
  private static final long serialVersionUID = 1L;

  DuplicateJobException(JobPaths paths, String manifest) {
    super(
        "There is a "
            + manifest
            + " in "
            + paths.manifestDirectory()
            + " before job "
            + paths.jobId()
            + " has begun: another job has the same id, or an earlier one was not cleaned up."
            + " If no such job runs, delete "
            + paths.jobDirectory());
  }
}
