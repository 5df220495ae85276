// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.testing.MinimalFileSystem;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.MultipartUploaderBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.functional.RemoteIterators;

/** The {@link SparkScaleStore} as a Hadoop filesystem. */
public final class SparkScaleFileSystem extends MinimalFileSystem {
  private SparkScaleStore store;

  /** Called by Hadoop through its configuration. */
  public SparkScaleFileSystem() {}

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    store = SparkScaleStore.current();
  }

  @Override
  public MultipartUploaderBuilder<?, ?> createMultipartUploader(Path path) throws IOException {
    return new SparkScaleUploads(store).builder(this, path);
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    store.requests().count(RequestKind.OPEN);
    return new FSDataInputStream(store.open(key(path)));
  }

  @Override
  protected FSDataOutputStream createFile(Path path, boolean overwrite) throws IOException {
    store.requests().count(RequestKind.CREATE);
    return new FSDataOutputStream(store.create(key(path), overwrite), null);
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    store.requests().count(RequestKind.RENAME);
    return store.rename(key(source), key(destination));
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    store.requests().count(RequestKind.DELETE);
    return store.delete(key(path), recursive);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    store.requests().count(RequestKind.LIST);
    return RemoteIterators.toArray(entries(path), new FileStatus[0]);
  }

  /** One by one, after a look at the directory, as hadoop-azure does. */
  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    getFileStatus(path);
    store.requests().count(RequestKind.LIST);
    return entries(path);
  }

  private RemoteIterator<FileStatus> entries(Path path) throws IOException {
    return RemoteIterators.remoteIteratorFromIterator(store.list(key(path), qualified(key(path))));
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    store.requests().count(RequestKind.MKDIRS);
    store.mkdirs(key(path));
    return true;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    store.requests().count(RequestKind.STATUS);
    return store.status(key(path), qualified(key(path)));
  }
}
