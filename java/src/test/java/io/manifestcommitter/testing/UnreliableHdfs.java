// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import io.manifestcommitter.testing.RequestFaults.Kind;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.util.Progressable;

/** HDFS of which every request can go wrong. */
public final class UnreliableHdfs extends DistributedFileSystem {
  private RequestFaults faults;

  @Override
  public void initialize(URI uri, Configuration conf) throws IOException {
    faults = RequestFaults.join(conf, this);
    super.initialize(uri, conf);
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return faults.pass("status", path, Kind.READS, () -> super.getFileStatus(path));
  }

  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    return faults.pass("list", path, Kind.READS, () -> super.listStatusIterator(path));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return faults.pass("list", path, Kind.READS, () -> super.listStatus(path));
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return faults.pass("open", path, Kind.READS, () -> super.open(path, bufferSize));
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    return faults.ask("mkdirs", path, () -> super.mkdirs(path, permission));
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    return faults.rename(source, destination, () -> super.rename(source, destination));
  }

  @Override
  public void rename(Path source, Path destination, Options.Rename... options) throws IOException {
    faults.<Void>pass(
        "rename-directory",
        destination,
        Kind.CHANGES,
        () -> {
          super.rename(source, destination, options);
          return null;
        });
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return faults.ask("delete", path, () -> super.delete(path, recursive));
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    return faults.create(
        path,
        () ->
            super.create(
                path, permission, overwrite, bufferSize, replication, blockSize, progress));
  }
}
