// SPDX-License-Identifier: Apache-2.0
package org.apache.hadoop.fs.s3a;

import io.manifestcommitter.testing.MemoryFileSystem;
import org.apache.hadoop.fs.FilterFileSystem;

/** Stands in for hadoop-aws where its name decides. */
public final class S3AFileSystem extends FilterFileSystem {
  /** As Hadoop makes filesystems. */
  public S3AFileSystem() {
    super(new MemoryFileSystem());
  }
}
