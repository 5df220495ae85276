package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Attempts;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
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
final class LocalOutput {
  private static final Logger LOG = LoggerFactory.getLogger(LocalOutput.class);
  private static final String DIRECTORIES = "fs.s3a.buffer.dir";

  private final String name;
  private final Configuration conf;
  private final Store store;
  private final List<Written> files = new ArrayList<>();
  private final Queue<FileEntry> uploads = new ConcurrentLinkedQueue<>();

  /**
   * Of one attempt.
   *
   * @param name no other attempt of any job has, on any disk
   */
  LocalOutput(String name, Configuration conf, Store store) {
    this.name = name;
    this.conf = conf;
    this.store = store;
  }

  /** A file of the attempt. */
  private static final class Written {
    private final File local;
    private final String location;
    private final String directory;
    private final String name;
    private final org.apache.hadoop.fs.Path destination;

    Written(
        File local,
        String location,
        String directory,
        String name,
        org.apache.hadoop.fs.Path destination) {
      this.local = local;
      this.location = location;
      this.directory = directory;
      this.name = name;
      this.destination = destination;
    }
  }

  /**
   * A place for a file on the disk with the most room, or the next one.
   *
   * @param location {@link TaskOutput#TABLE}, or the path of a custom location
   * @param directory relative to the location
   * @param destination where the file will be visible
   * @return the path to write to
   */
  String newFile(
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
    files.add(new Written(local, location, directory, fileName, destination));
    return new org.apache.hadoop.fs.Path(local.toURI()).toString();
  }

  /** Whether the attempt writes nothing here. */
  boolean isEmpty() {
    return files.isEmpty();
  }

  /**
   * Uploads the files, in parallel, and removes them here. One that was not written is left out:
   * the driver says whether that may be.
   *
   * @param to is told what was uploaded
   */
  void upload(TaskOutput.Builder to, Workers workers) throws IOException {
    Map<Written, UploadedFile> uploaded = new ConcurrentHashMap<>();
    List<Written> existing = new ArrayList<>(files);
    existing.removeIf(file -> !file.local.exists());
    workers.forEach(
        existing,
        file -> {
          StoreEntry entry = store.upload(file.local, file.destination);
          uploads.add(
              new FileEntry(file.destination, file.destination, entry.length(), entry.etag(), 0));
          uploaded.put(file, new UploadedFile(entry.length(), entry.etag()));
        });
    uploaded.forEach(
        (file, upload) -> to.uploaded(file.location, file.directory, file.name, upload));
    removeFiles();
  }

  /** Removes what was written here, and gives up what was uploaded. */
  void delete(Workers workers) throws IOException {
    removeFiles();
    workers.forEach(uploads, upload -> Attempts.few(() -> store.abandon(upload)));
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
