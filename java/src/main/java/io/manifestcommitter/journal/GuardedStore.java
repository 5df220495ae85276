// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.FileUpload;
import io.manifestcommitter.store.ForwardingStore;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import java.io.File;
import java.io.IOException;
import org.apache.hadoop.fs.Path;

/** A store in which nothing is changed without leave. Reading needs none. */
final class GuardedStore extends ForwardingStore {
  private final Store store;
  private final Guard guard;

  GuardedStore(Store store, Guard guard) {
    this.store = store;
    this.guard = guard;
  }

  @Override
  protected Store of(Path path) {
    return store;
  }

  /** Asked before each change. */
  @FunctionalInterface
  interface Guard {
    /** Fails if nothing may be changed. */
    void requireLeave() throws IOException;
  }

  @Override
  public void mkdirs(Path directory) throws IOException {
    guard.requireLeave();
    store.mkdirs(directory);
  }

  @Override
  public RenameResult renameFile(FileEntry file) {
    try {
      guard.requireLeave();
    } catch (IOException e) {
      return notTried(file.source(), e);
    }
    return store.renameFile(file);
  }

  @Override
  public FileUpload newUpload(File local, Path destination) throws IOException {
    guard.requireLeave();
    return store.newUpload(local, destination);
  }

  @Override
  public void abortUpload(FileEntry file) throws IOException {
    guard.requireLeave();
    store.abortUpload(file);
  }

  @Override
  public RenameResult renameDirectory(Path source, Path destination) {
    try {
      guard.requireLeave();
    } catch (IOException e) {
      return notTried(source, e);
    }
    return store.renameDirectory(source, destination);
  }

  private static RenameResult notTried(Path source, IOException reason) {
    return RenameResult.failed(source + " was not renamed: " + reason.getMessage(), reason);
  }

  @Override
  public void deleteFile(Path file) throws IOException {
    guard.requireLeave();
    store.deleteFile(file);
  }

  @Override
  public boolean deleteEmptyDirectory(Path directory) throws IOException {
    guard.requireLeave();
    return store.deleteEmptyDirectory(directory);
  }

  @Override
  public void deleteTree(Path directory) throws IOException {
    guard.requireLeave();
    store.deleteTree(directory);
  }

  @Override
  public void write(Path file, Content content) throws IOException {
    guard.requireLeave();
    store.write(file, content);
  }

  @Override
  public void create(Path file) throws IOException {
    guard.requireLeave();
    store.create(file);
  }

  @Override
  public boolean fill(Path file, Content content) throws IOException {
    guard.requireLeave();
    return store.fill(file, content);
  }

  @Override
  public Path named(Path path) {
    return store.named(path);
  }

  @Override
  public Store pastLimits() {
    return new GuardedStore(store.pastLimits(), guard);
  }
}
