// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.store.FileUpload;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.LocalDirAllocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one task attempt writes to the executor's disk, until it commits and uploads it: for stores
 * whose output becomes visible by the completion of uploads. The directories are those in which S3A
 * keeps what it has not uploaded yet, {@code fs.s3a.buffer.dir}; they need room for an attempt's
 * output.
 */
final class LocalOutput implements TaskUploads {
  private static final Logger LOG = LoggerFactory.getLogger(LocalOutput.class);
  private static final String DIRECTORIES = "fs.s3a.buffer.dir";

  private final String name;
  private final Configuration conf;
  private final Store store;
  private final BooleanSupplier isOver;
  private final List<Written> files = new ArrayList<>();

  /** Null until there is a file. */
  private FollowUploads follow;

  /**
   * Of one attempt.
   *
   * @param name no other attempt of any job has, on any disk
   * @param isOver whether the attempt is, though nobody asked for its commit or its deletion
   */
  LocalOutput(String name, Configuration conf, Store store, BooleanSupplier isOver) {
    this.name = name;
    this.conf = conf;
    this.store = store;
    this.isOver = isOver;
  }

  /** A file of the attempt. */
  private static final class Written {
    private final File local;
    private final String location;
    private final String directory;
    private final String name;
    private final FileUpload upload;

    Written(File local, String location, String directory, String name, FileUpload upload) {
      this.local = local;
      this.location = location;
      this.directory = directory;
      this.name = name;
      this.upload = upload;
    }
  }

  /**
   * A place on the disk with the most room, or the next one. What is written there is uploaded part
   * by part while it grows.
   */
  @Override
  public String newFile(
      String location, String directory, String fileName, org.apache.hadoop.fs.Path destination)
      throws IOException {
    // A directory for each: names of files in different partitions may be the same.
    String own = name + "/" + files.size();
    org.apache.hadoop.fs.Path path =
        new LocalDirAllocator(DIRECTORIES)
            .getLocalPathForWrite(own, LocalDirAllocator.SIZE_UNKNOWN, conf);
    File parent = new File(path.toUri().getPath());
    Files.createDirectories(parent.toPath());
    File local = new File(parent, fileName);
    LOG.debug("{} is written to {} first", destination, local);
    FileUpload upload = store.newUpload(local, destination);
    files.add(new Written(local, location, directory, fileName, upload));
    if (follow == null) {
      follow = new FollowUploads(isOver);
    }
    follow.add(upload);
    return new org.apache.hadoop.fs.Path(local.toURI()).toString();
  }

  @Override
  public boolean isEmpty() {
    return files.isEmpty();
  }

  /** Uploads what is left of the files, in parallel, and removes them here. */
  @Override
  public void upload(TaskOutput.Builder to, Workers workers) throws IOException {
    stopFollowing();
    Map<Written, UploadedFile> uploaded = new ConcurrentHashMap<>();
    workers.forEach(
        files,
        file -> {
          if (file.local.exists()) {
            StoreEntry entry = file.upload.finish();
            uploaded.put(file, new UploadedFile(entry.length(), entry.etag()));
          } else {
            file.upload.abort();
          }
        });
    uploaded.forEach(
        (file, upload) -> to.uploaded(file.location, file.directory, file.name, upload));
    removeFiles();
  }

  @Override
  public void delete(Workers workers) throws IOException {
    stopFollowing();
    removeFiles();
    workers.forEach(files, file -> Retries.few(file.upload::abort));
  }

  private void stopFollowing() throws IOException {
    if (follow != null) {
      follow.close();
    }
  }

  private void removeFiles() {
    for (Written file : files) {
      Path directory = file.local.getParentFile().toPath();
      try (Stream<Path> inIt = Files.list(directory)) {
        // What writers put beside it, such as the checksums of Hadoop's local filesystem, too.
        for (Path one : (Iterable<Path>) inIt::iterator) {
          Files.delete(one);
        }
        Files.delete(directory);
        directory.getParent().toFile().delete();
      } catch (IOException e) {
        LOG.debug("{} is not removed", directory, e);
      }
    }
  }
}
