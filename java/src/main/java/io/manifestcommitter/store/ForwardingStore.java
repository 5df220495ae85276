// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.hadoop.fs.Path;

/** Sends each request to another store, which its path tells. */
public abstract class ForwardingStore implements Store {
  /**
   * The store of a path.
   *
   * @throws IOException if it cannot be opened
   */
  protected abstract Store of(Path path) throws IOException;

  /**
   * As {@link #of}, for a request that changes something there.
   *
   * @throws IOException also if nothing may be changed now
   */
  protected Store toChange(Path path) throws IOException {
    return of(path);
  }

  @Override
  public void create(Path file) throws IOException {
    toChange(file).create(file);
  }

  @Override
  public boolean fill(Path file, Content content) throws IOException {
    return toChange(file).fill(file, content);
  }

  @Override
  public void release(Path file) {
    try {
      of(file).release(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public StoreTraits traits(Path path) {
    try {
      return of(path).traits(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Optional<StoreEntry> status(Path path) throws IOException {
    return of(path).status(path);
  }

  @Override
  public void list(Path directory, int expected, Visitor visitor) throws IOException {
    of(directory).list(directory, expected, visitor);
  }

  @Override
  public StoreEntry identified(StoreEntry listed) throws IOException {
    return of(listed.path()).identified(listed);
  }

  @Override
  public void mkdirs(Path directory) throws IOException {
    toChange(directory).mkdirs(directory);
  }

  @Override
  public RenameResult renameFile(FileEntry file) {
    return at(file.source(), store -> store.renameFile(file));
  }

  @Override
  public RenameResult completeUpload(FileEntry upload) {
    return at(upload.destination(), store -> store.completeUpload(upload));
  }

  private RenameResult at(Path path, Function<Store, RenameResult> rename) {
    try {
      return rename.apply(toChange(path));
    } catch (IOException e) {
      return RenameResult.failed(path + " was not renamed: " + e.getMessage(), e);
    }
  }

  @Override
  public FileUpload newUpload(File local, Path destination) throws IOException {
    return toChange(destination).newUpload(local, destination);
  }

  @Override
  public void abortUpload(FileEntry file) throws IOException {
    toChange(file.destination()).abortUpload(file);
  }

  @Override
  public Optional<Set<String>> waitingUploads(Path directory) throws IOException {
    return of(directory).waitingUploads(directory);
  }

  @Override
  public RenameResult renameDirectory(Path source, Path destination) {
    return at(source, store -> store.renameDirectory(source, destination));
  }

  @Override
  public void awaitRenames(Path directory, RenamesOf of) throws IOException {
    of(directory).awaitRenames(directory, of);
  }

  @Override
  public Optional<String> deletionDenied(
      Path directory, Optional<StoreEntry> seen, Iterable<Path> entries) throws IOException {
    return of(directory).deletionDenied(directory, seen, entries);
  }

  @Override
  public void deleteFile(Path file) throws IOException {
    toChange(file).deleteFile(file);
  }

  @Override
  public boolean deleteEmptyDirectory(Path directory) throws IOException {
    return toChange(directory).deleteEmptyDirectory(directory);
  }

  @Override
  public void deleteTree(Path directory) throws IOException {
    toChange(directory).deleteTree(directory);
  }

  @Override
  public byte[] read(Path file, int limit) throws IOException {
    return of(file).read(file, limit);
  }

  @Override
  public byte[] readStart(Path file, int length) throws IOException {
    return of(file).readStart(file, length);
  }

  @Override
  public long modified(Path file) throws IOException {
    return of(file).modified(file);
  }

  @Override
  public void write(Path file, Content content) throws IOException {
    toChange(file).write(file, content);
  }
}
