// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/** What a Hadoop filesystem has to have beside its requests. */
public abstract class MinimalFileSystem extends FileSystem {
  private URI uri;
  private Path working;

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    uri = URI.create(name.getScheme() + "://" + name.getAuthority());
    working = new Path(uri.toString(), "/");
  }

  @Override
  public final String getScheme() {
    return uri.getScheme();
  }

  @Override
  public final URI getUri() {
    return uri;
  }

  @Override
  public final void setWorkingDirectory(Path directory) {
    working = directory;
  }

  @Override
  public final Path getWorkingDirectory() {
    return working;
  }

  @Override
  public final FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    return createFile(path, overwrite);
  }

  /** Creates a file. */
  protected abstract FSDataOutputStream createFile(Path path, boolean overwrite) throws IOException;

  @Override
  public final FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
    throw new UnsupportedOperationException("no committer appends");
  }

  /** As hadoop-azure answers for an account with hierarchical namespace, once it knows. */
  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    return capability.equals(CommonPathCapabilities.FS_ACLS)
        || super.hasPathCapability(path, capability);
  }

  /** The path without scheme and authority. */
  protected static String key(Path path) {
    return path.toUri().getPath();
  }

  /** The path with scheme and authority. */
  protected final Path qualified(String key) {
    return new Path(uri.getScheme(), uri.getAuthority(), key);
  }
}
