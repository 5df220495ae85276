// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import static io.manifestcommitter.bench.NodeTree.name;
import static io.manifestcommitter.bench.NodeTree.parent;

import io.manifestcommitter.testing.EtagStatus;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;

/**
 * A store that needs next to no heap for the files of one Spark job: they are numbers, and a byte
 * each outside the heap tells whether they were renamed one by one. Its directories are a tree;
 * what the committer writes lies on the local disk.
 *
 * <p>What no commit of the job has a reason to do with one of its files is a fault. Paths are
 * absolute, without scheme.
 */
final class SparkScaleStore {
  private static volatile SparkScaleStore current;

  private final JobShape shape;
  private final Path scratch;
  private final NodeTree<ScaleNode> tree =
      new NodeTree<>(() -> ScaleNode.directory(ScaleFiles.TIME));
  private final ByteBuffer renamed;
  private final RequestCounter requests = new RequestCounter();
  private final Faults faults = new Faults();
  private long written;

  /**
   * The store of a job.
   *
   * @param scratch an empty local directory
   */
  SparkScaleStore(JobShape shape, Path scratch) {
    this.shape = shape;
    this.scratch = scratch;
    this.renamed = ByteBuffer.allocateDirect(shape.files());
  }

  /** Makes this the store of all filesystems that are opened from now on. */
  void serve() {
    current = this;
  }

  /** The store that serves. */
  static SparkScaleStore current() {
    return current;
  }

  RequestCounter requests() {
    return requests;
  }

  /** What is wrong. */
  Faults faults() {
    return faults;
  }

  /** A task writes one of the job's files: with the first of a partition, all of it are there. */
  synchronized void writeFile(String path, int file) throws IOException {
    ScaleNode directory = tree.directory(parent(path));
    int partition = shape.partitionOf(file);
    if (directory.partition() < 0) {
      directory.write(partition, shape.filesIn(partition));
    } else if (!directory.hasWritten(partition)) {
      throw new IOException(path + " is not where the others of its partition are");
    }
  }

  /** Puts a file there that is older than the job. */
  synchronized void plant(String path, long length) throws IOException {
    tree.directory(parent(path))
        .children()
        .put(name(path), ScaleNode.file(null, length, ScaleFiles.TIME));
  }

  synchronized void mkdirs(String path) throws IOException {
    tree.directory(path);
  }

  synchronized FileStatus status(String path, org.apache.hadoop.fs.Path as)
      throws FileNotFoundException {
    ScaleNode node = tree.lookUp(path);
    if (node != null) {
      return status(node, as);
    }
    OptionalInt file = fileAt(path);
    if (!file.isPresent()) {
      throw new FileNotFoundException(path);
    }
    return fileStatus(file.getAsInt(), as);
  }

  /** The entries of a directory; the job's files are made one by one, as they are asked for. */
  synchronized Iterator<FileStatus> list(String path, org.apache.hadoop.fs.Path as)
      throws FileNotFoundException {
    ScaleNode node = tree.lookUp(path);
    if (node == null || !node.isDirectory()) {
      return List.of(status(path, as)).iterator();
    }
    List<FileStatus> entries = new ArrayList<>();
    for (Map.Entry<String, ScaleNode> entry : node.children().entrySet()) {
      entries.add(status(entry.getValue(), new org.apache.hadoop.fs.Path(as, entry.getKey())));
    }
    int partition = node.partition();
    if (partition < 0) {
      return entries.iterator();
    }
    Stream<FileStatus> files =
        IntStream.iterate(
                partition, file -> file < shape.files(), file -> file + shape.partitions())
            .filter(file -> isIn(node, file))
            .mapToObj(
                file -> fileStatus(file, new org.apache.hadoop.fs.Path(as, shape.name(file))));
    return Stream.concat(entries.stream(), files).iterator();
  }

  /** Opens a file that the committer wrote. */
  synchronized ChannelInput open(String path) throws IOException {
    ScaleNode node = tree.lookUp(path);
    if (node == null || node.isDirectory() || node.content() == null) {
      throw new FileNotFoundException(path);
    }
    FileChannel channel = FileChannel.open(node.content(), StandardOpenOption.READ);
    return new ChannelInput(channel, 0, channel.size(), ChannelInput.Ending.CLOSES);
  }

  /** A file that is being written; there once it is closed. */
  OutputStream create(String path, boolean overwrite) throws IOException {
    Path content = newContent(path, overwrite);
    return new Upload(Files.newOutputStream(content), () -> put(path, content));
  }

  /** Renames a file or directory; says whether it was done. */
  synchronized boolean rename(String source, String destination) {
    return tree.lookUp(source) == null
        ? renameFile(source, destination)
        : tree.rename(source, destination);
  }

  /** Keeps what a part brought until it is completed. */
  synchronized String upload(InputStream content) throws IOException {
    Path part = scratch.resolve(Long.toString(written++));
    Files.copy(content, part);
    return part.toString();
  }

  /** Makes visible what was uploaded that is not one of the job's files. */
  void complete(String path, String part) throws IOException {
    put(path, Path.of(part));
  }

  /**
   * Makes one of the job's files visible, in the table.
   *
   * @param below its path there
   * @return its number; nothing if there is no such file
   */
  synchronized OptionalInt completeFile(String table, String below) throws IOException {
    OptionalInt file = shape.fileNumber(below);
    if (file.isPresent()) {
      ScaleNode directory = tree.directory(parent(table + "/" + below));
      if (renamed.get(file.getAsInt()) != 0
          || !directory.take(shape.partitionOf(file.getAsInt()))) {
        faults.add("complete " + below);
      }
      renamed.put(file.getAsInt(), (byte) 1);
    }
    return file;
  }

  /** Deletes what is at a path; says whether there was something. */
  synchronized boolean delete(String path, boolean recursive) throws IOException {
    ScaleNode node = tree.lookUp(path);
    if (node == null) {
      if (fileAt(path).isPresent()) {
        faults.add("delete " + path);
      }
      return false;
    }
    int files = node.filesBelow();
    if (node.isDirectory() && !recursive && (files > 0 || !node.children().isEmpty())) {
      throw new PathIsNotEmptyDirectoryException(path);
    }
    if (files > 0) {
      faults.add("delete " + path + " with " + files + " of the job's files in it");
    }
    tree.remove(path);
    return true;
  }

  private boolean renameFile(String source, String destination) {
    OptionalInt file = fileAt(source);
    ScaleNode from = tree.lookUp(parent(source));
    ScaleNode to = tree.lookUp(parent(destination));
    if (!file.isPresent() || to == null || !to.isDirectory() || tree.lookUp(destination) != null) {
      return false;
    }
    if (renamed.get(file.getAsInt()) != 0
        || !name(source).equals(name(destination))
        || !from.moveTo(to)) {
      faults.add("rename " + source + " to " + destination);
      return false;
    }
    renamed.put(file.getAsInt(), (byte) 1);
    return true;
  }

  private synchronized Path newContent(String path, boolean overwrite) throws IOException {
    if (fileAt(path).isPresent()) {
      faults.add("create " + path);
    }
    ScaleNode existing = tree.lookUp(path);
    if (existing != null && (existing.isDirectory() || !overwrite)) {
      throw new FileAlreadyExistsException(path);
    }
    return scratch.resolve(Long.toString(written++));
  }

  private synchronized void put(String path, Path content) throws IOException {
    tree.directory(parent(path))
        .children()
        .put(name(path), ScaleNode.file(content, Files.size(content), System.currentTimeMillis()));
  }

  /** The number of the job's file at a path. */
  private OptionalInt fileAt(String path) {
    ScaleNode node = tree.lookUp(parent(path));
    if (node == null || node.partition() < 0) {
      return OptionalInt.empty();
    }
    String partition = shape.partition(node.partition());
    OptionalInt file =
        shape.fileNumber(partition.isEmpty() ? name(path) : partition + "/" + name(path));
    return file.isPresent() && isIn(node, file.getAsInt()) ? file : OptionalInt.empty();
  }

  private boolean isIn(ScaleNode node, int file) {
    int partition = shape.partitionOf(file);
    return renamed.get(file) == 0 ? node.hasWritten(partition) : node.hasRenamed(partition);
  }

  private static FileStatus status(ScaleNode node, org.apache.hadoop.fs.Path path) {
    return node.isDirectory()
        ? new FileStatus(0, true, 1, 1, node.time(), path)
        : new EtagStatus(node.length(), node.time(), path, "0x" + System.identityHashCode(node));
  }

  private static FileStatus fileStatus(int file, org.apache.hadoop.fs.Path path) {
    return new EtagStatus(ScaleFiles.length(file), ScaleFiles.TIME, path, ScaleFiles.etag(file));
  }
}
