// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/** The status of a file with an etag, as ABFS has. */
public final class EtagStatus extends FileStatus implements EtagSource {
  private static final long serialVersionUID = 1L;
  private final String etag;

  /** Of a file that nobody owns. */
  public EtagStatus(long length, long time, Path path, String etag) {
    this(length, time, null, path, etag);
  }

  /** Of a file. */
  public EtagStatus(long length, long time, String owner, Path path, String etag) {
    super(length, false, 1, 1, time, 0, null, owner, "", path);
    this.etag = etag;
  }

  @Override
  public String getEtag() {
    return etag;
  }

  @Override
  public boolean equals(Object other) {
    return super.equals(other);
  }

  @Override
  public int hashCode() {
    return super.hashCode();
  }
}
