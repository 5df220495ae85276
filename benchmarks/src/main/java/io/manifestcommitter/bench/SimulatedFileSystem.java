// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.testing.EtagStatus;
import io.manifestcommitter.testing.MinimalFileSystem;
import io.manifestcommitter.testing.SeekableBytes;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * A {@link SimulatedStore} as a Hadoop filesystem, bound with {@code fs.<scheme>.impl}; the
 * authority is the store's name.
 */
public final class SimulatedFileSystem extends MinimalFileSystem {
  private SimulatedStore store;

  /** Called by Hadoop through its configuration. */
  public SimulatedFileSystem() {}

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    store = SimulatedStore.named(name.getAuthority());
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    store.request(RequestKind.OPEN, key(path));
    StoreNode node =
        store.find(key(path)).orElseThrow(() -> new FileNotFoundException(path.toString()));
    if (node.isDirectory()) {
      throw new FileNotFoundException(path + " is a directory");
    }
    return new FSDataInputStream(new SeekableBytes(node.content()));
  }

  @Override
  protected FSDataOutputStream createFile(Path path, boolean overwrite) throws IOException {
    store.request(RequestKind.CREATE, key(path));
    if (!overwrite && store.find(key(path)).isPresent()) {
      throw new FileAlreadyExistsException(path.toString());
    }
    String key = key(path);
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    store.write(key, new byte[0]);
    return new FSDataOutputStream(new Upload(content, () -> close(key, content)), null);
  }

  private void close(String key, ByteArrayOutputStream content) throws IOException {
    store.request(RequestKind.CLOSE, key);
    store.write(key, content.toByteArray());
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    store.request(RequestKind.RENAME, key(source));
    return store.rename(key(source), key(destination));
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    store.request(RequestKind.DELETE, key(path));
    return store.delete(key(path), recursive);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    store.request(RequestKind.LIST, key(path));
    Optional<List<Map.Entry<String, StoreNode>>> entries = store.list(key(path));
    if (!entries.isPresent()) {
      return new FileStatus[] {status(path, store.find(key(path)).orElseThrow())};
    }
    String directory = getUri() + (key(path).equals("/") ? "" : key(path)) + "/";
    return entries.get().stream()
        .map(entry -> status(child(directory, entry.getKey()), entry.getValue()))
        .toArray(FileStatus[]::new);
  }

  /**
   * By the cheapest of the ways to make a path, since what a store costs is no committer's. No name
   * in a benchmark needs quoting.
   */
  private static Path child(String directory, String name) {
    return new Path(URI.create(directory + name));
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    store.request(RequestKind.MKDIRS, key(path));
    store.mkdirs(key(path));
    return true;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    store.request(RequestKind.STATUS, key(path));
    return store
        .find(key(path))
        .map(node -> status(qualified(key(path)), node))
        .orElseThrow(() -> new FileNotFoundException(path.toString()));
  }

  private static FileStatus status(Path path, StoreNode node) {
    return node.isDirectory()
        ? new FileStatus(0, true, 1, 1, node.time(), path)
        : new EtagStatus(node.length(), node.time(), path, node.etag());
  }
}
