package io.manifestcommitter.store;

import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;

/**
 * HDFS, also through {@code webhdfs}.
 *
 * <p>Relies on the file id: HDFS numbers its files, a rename keeps the number, and a file that is
 * written again has another. With length and modification time it is a file's identity. And on a
 * rename of directories that replaces nothing.
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

  /**
   * By the rename that refuses whatever stands at the destination, an empty directory too; the
   * other one would put the source inside.
   */
  @Override
  protected boolean requestDirectoryRename(Path source, Path destination) throws IOException {
    if (fs() instanceof DistributedFileSystem) {
      ((DistributedFileSystem) fs()).rename(source, destination, Options.Rename.NONE);
      return true;
    }
    return super.requestDirectoryRename(source, destination);
  }
}
