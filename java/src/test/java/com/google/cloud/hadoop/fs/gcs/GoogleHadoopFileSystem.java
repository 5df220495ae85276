package com.google.cloud.hadoop.fs.gcs;

import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FilterFileSystem;

/**
 * Stands in for Google's connector where its name decides, and does not open for the same reason:
 * it reads its block size by {@code getLong}.
 */
public final class GoogleHadoopFileSystem extends FilterFileSystem {
  /** As Hadoop makes filesystems. */
  public GoogleHadoopFileSystem() {
    super(new MemoryFileSystem());
  }

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    conf.getLong("fs.gs.block.size", 0);
    super.initialize(name, conf);
  }
}
