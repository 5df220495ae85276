package io.manifestcommitter.store;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;

/**
 * HDFS, also through {@code webhdfs}.
 *
 * <p>Relies on the file id: HDFS numbers its files, a rename keeps the number, and a file that is
 * written again has another. With length and modification time it is a file's identity.
 */
public final class HdfsStore extends HadoopStore {
  /** A store on the HDFS filesystem {@code fs}. */
  public HdfsStore(FileSystem fs, RequestGate gate) {
    super(fs, StoreTraits.HDFS, gate);
  }

  @Override
  protected String etag(FileStatus status) {
    return status instanceof HdfsFileStatus
        ? "fileId-" + ((HdfsFileStatus) status).getFileId()
        : "";
  }
}
