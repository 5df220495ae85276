// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.util.Progressable;

/**
 * Stands in for lakeFS's own filesystem at {@code lakefs://}: it reads through the S3 gateway. As
 * the committer writes by the API alone, this makes no file and renames none. It makes directories
 * and deletes, as Spark's catalog asks for both.
 */
public final class LakefsStandIn extends S3AFileSystem {
  @Override
  public String getScheme() {
    return "lakefs";
  }

  @Override
  public FSDataOutputStream create(
      Path file,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    throw refused("write " + file);
  }

  @Override
  public FSDataOutputStream append(Path file, int bufferSize, Progressable progress)
      throws IOException {
    throw refused("append to " + file);
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    throw refused("rename " + from);
  }

  private static IOException refused(String what) {
    return new IOException("The filesystem at lakefs:// of these tests does not " + what);
  }
}
