// SPDX-License-Identifier: Apache-2.0
package org.apache.hadoop.fs.azurebfs;

import io.manifestcommitter.testing.MemoryFileSystem;
import org.apache.hadoop.fs.FilterFileSystem;

/** Stands in for hadoop-azure where its name decides. */
public final class AzureBlobFileSystem extends FilterFileSystem {
  /** As Hadoop makes filesystems. */
  public AzureBlobFileSystem() {
    super(new MemoryFileSystem());
  }
}
