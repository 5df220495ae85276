// SPDX-License-Identifier: Apache-2.0
package org.apache.hadoop.fs.gs;

import io.manifestcommitter.testing.MemoryFileSystem;
import org.apache.hadoop.fs.FilterFileSystem;

/** Stands in for Hadoop's own connector to Google Cloud Storage where its name decides. */
public final class GoogleHadoopFileSystem extends FilterFileSystem {
  /** As Hadoop makes filesystems. */
  public GoogleHadoopFileSystem() {
    super(new MemoryFileSystem());
  }
}
