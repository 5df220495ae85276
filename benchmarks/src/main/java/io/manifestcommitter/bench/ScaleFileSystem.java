// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.testing.EtagStatus;
import io.manifestcommitter.testing.MinimalFileSystem;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * The filesystem of a job of any size that needs next to no heap: the files of its tasks are
 * numbers, its manifests lie in a {@link ManifestArchive}, everything else in a {@link
 * ScratchStore}. What a commit of the job has no reason to ask for is a fault, and noted.
 */
public final class ScaleFileSystem extends MinimalFileSystem {
  private ScaleStore store;
  private ScaleJob job;
  private String tasksDirectory;
  private String manifestDirectory;

  /** Called by Hadoop through its configuration. */
  public ScaleFileSystem() {}

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    store = ScaleStore.current();
    job = store.job();
    tasksDirectory = key(job.paths().taskAttemptsDirectory());
    manifestDirectory = key(job.paths().manifestDirectory());
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    store.requests().count(RequestKind.OPEN);
    OptionalInt task = manifestAt(key(path));
    return new FSDataInputStream(
        task.isPresent() ? store.archive().open(task.getAsInt()) : store.scratch().open(key(path)));
  }

  @Override
  protected FSDataOutputStream createFile(Path path, boolean overwrite) throws IOException {
    store.requests().count(RequestKind.CREATE);
    if (isTaskFile(key(path))) {
      store.faults().add("create " + path);
    }
    if (!overwrite) {
      store.scratch().refuseExisting(key(path));
    }
    return new FSDataOutputStream(store.scratch().create(key(path)), null);
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    store.requests().count(RequestKind.RENAME);
    OptionalInt file = job.ofSource(key(source));
    if (!file.isPresent()) {
      if (isTaskFile(key(source)) || isTaskFile(key(destination))) {
        store.faults().add("rename " + source + " to " + destination);
        return false;
      }
      return store.scratch().rename(key(source), key(destination));
    }
    int number = file.getAsInt();
    if (!key(destination).equals(job.destination(number))
        || !store.scratch().exists(key(destination.getParent()))
        || !store.hasAttempt(number / job.shape().filesPerTask())) {
      store.faults().add("rename " + source + " to " + destination);
      return false;
    }
    return store.log().rename(number);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    store.requests().count(RequestKind.DELETE);
    String key = key(path);
    OptionalInt attempt = job.ofAttemptDirectory(key);
    if (attempt.isPresent()) {
      boolean there = store.hasAttempt(attempt.getAsInt());
      store.deleteAttempt(attempt.getAsInt());
      return there;
    }
    if (isTaskFile(key)) {
      store.faults().add("delete " + path);
      return false;
    }
    if (recursive) {
      store.deleteBelow(key);
    }
    return store.scratch().delete(key, recursive);
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    store.requests().count(RequestKind.LIST);
    return RemoteIterators.toArray(entries(path), new FileStatus[0]);
  }

  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    store.requests().count(RequestKind.LIST);
    return entries(path);
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    store.requests().count(RequestKind.MKDIRS);
    store.scratch().mkdirs(key(path));
    return true;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    store.requests().count(RequestKind.STATUS);
    return status(key(path));
  }

  private FileStatus status(String key) throws IOException {
    OptionalInt task = manifestAt(key);
    if (task.isPresent()) {
      return manifestStatus(task.getAsInt());
    }
    OptionalInt attempt = job.ofAttemptDirectory(key);
    if (attempt.isPresent() && store.hasAttempt(attempt.getAsInt())) {
      return directoryStatus(key);
    }
    OptionalInt source = job.ofSource(key);
    if (source.isPresent() && isAtSource(source.getAsInt())) {
      return fileStatus(source.getAsInt(), key);
    }
    OptionalInt destination = job.ofDestination(key);
    if (destination.isPresent() && store.log().isRenamed(destination.getAsInt())) {
      return fileStatus(destination.getAsInt(), key);
    }
    if (isTaskFile(key)) {
      throw new FileNotFoundException(key);
    }
    return store.scratch().status(key, qualified(key));
  }

  /** Those of the scratch store, then those of the job, made one by one as they are asked for. */
  private RemoteIterator<FileStatus> entries(Path path) throws IOException {
    String key = key(path);
    List<FileStatus> scratch = new ArrayList<>();
    for (String name : store.scratch().list(key)) {
      scratch.add(status(key + "/" + name));
    }
    return RemoteIterators.remoteIteratorFromIterator(
        Stream.concat(scratch.stream(), ofJob(key)).iterator());
  }

  private Stream<FileStatus> ofJob(String key) {
    OptionalInt partition = job.ofPartition(key);
    if (key.equals(manifestDirectory) && store.hasManifests()) {
      return IntStream.range(0, job.shape().tasks()).mapToObj(this::manifestStatus);
    }
    if (key.equals(tasksDirectory)) {
      return IntStream.range(0, job.shape().tasks())
          .filter(store::hasAttempt)
          .mapToObj(task -> directoryStatus(job.attemptDirectory(task)));
    }
    if (partition.isPresent()) {
      return IntStream.range(0, job.shape().files())
          .filter(file -> job.shape().partitionOf(file) == partition.getAsInt())
          .filter(store.log()::isRenamed)
          .mapToObj(file -> fileStatus(file, job.destination(file)));
    }
    return Stream.empty();
  }

  private OptionalInt manifestAt(String key) {
    return store.hasManifests() ? job.ofManifest(key) : OptionalInt.empty();
  }

  private boolean isAtSource(int file) {
    return !store.log().isRenamed(file) && store.hasAttempt(file / job.shape().filesPerTask());
  }

  /** Whether a path is, or would be, one of the files that tasks wrote, or below an attempt. */
  private boolean isTaskFile(String key) {
    return key.startsWith(tasksDirectory + "/") || job.ofDestination(key).isPresent();
  }

  private FileStatus manifestStatus(int task) {
    return new EtagStatus(
        store.archive().length(task),
        ScaleFiles.TIME,
        qualified(job.manifestPath(task)),
        "0x8DB" + Integer.toHexString(task));
  }

  private FileStatus fileStatus(int file, String key) {
    return new EtagStatus(
        ScaleFiles.length(file), ScaleFiles.TIME, qualified(key), ScaleFiles.etag(file));
  }

  private FileStatus directoryStatus(String key) {
    return new FileStatus(0, true, 1, 1, ScaleFiles.TIME, qualified(key));
  }
}
