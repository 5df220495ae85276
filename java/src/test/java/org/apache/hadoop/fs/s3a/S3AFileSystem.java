// SPDX-License-Identifier: Apache-2.0
package org.apache.hadoop.fs.s3a;

import io.manifestcommitter.testing.MemoryFileSystem;

/** Stands in for hadoop-aws where its name decides: S3 in memory, by any scheme. */
public class S3AFileSystem extends MemoryFileSystem {
  /** As another vendor's build of it, under a name of its own. */
  public static final class Extended extends S3AFileSystem {}

  @Override
  protected boolean isS3() {
    return true;
  }
}
