package io.manifestcommitter.bench;

import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/** The status of a file with an etag, as ABFS has. */
final class EtagStatus extends FileStatus implements EtagSource {
  private static final long serialVersionUID = 1L;
  private final String etag;

  EtagStatus(long length, long time, Path path, String etag) {
    super(length, false, 1, 1, time, path);
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
