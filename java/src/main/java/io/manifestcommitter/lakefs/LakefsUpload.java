// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import io.manifestcommitter.lakefs.LakefsRepository.Abilities;
import java.io.IOException;

/** The upload of one file of a task attempt, and its link to the branch of the job. */
public final class LakefsUpload {
  private LakefsUpload() {}

  /** How the content of a file gets to its address. */
  public enum Way {
    /** By the cluster's own filesystem for the store behind lakeFS. */
    FILESYSTEM,
    /** By a presigned URL. */
    PRESIGNED,
    /** As that; a large file by several. */
    PRESIGNED_PARTS;

    /** The way that a server offers. One request. */
    public static Way of(LakefsRepository repository) throws IOException {
      Abilities abilities = repository.abilities();
      return abilities.presignsParts
          ? PRESIGNED_PARTS
          : abilities.presigns ? PRESIGNED : FILESYSTEM;
    }
  }
}
