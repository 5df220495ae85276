package io.manifestcommitter.bench;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.Progressable;

/** What a Hadoop filesystem has to have beside its requests. */
abstract class MinimalFileSystem extends FileSystem {
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
  public final FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
    throw new UnsupportedOperationException("no committer appends");
  }

  /** As hadoop-azure answers for an account with hierarchical namespace, once it knows. */
  @Override
  public final boolean hasPathCapability(Path path, String capability) throws IOException {
    return capability.equals(CommonPathCapabilities.FS_ACLS)
        || super.hasPathCapability(path, capability);
  }

  /** The path without scheme and authority. */
  static String key(Path path) {
    return path.toUri().getPath();
  }

  /** The path with scheme and authority. */
  final Path qualified(String key) {
    return new Path(uri.getScheme(), uri.getAuthority(), key);
  }
}
