// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.hadoop.fs.Path;

/**
 * A long list of file entries in little memory: about 30 bytes a file. Entries past a bound take no
 * memory: they are in a local file (MAPREDUCE-7435: a list of all files filled a driver's heap).
 * Written once by one thread, then read any number of times in the order of writing.
 *
 * <p>To be closed, which removes the local file; so does the end of the JVM.
 */
public final class FileEntries implements Iterable<FileEntry>, Closeable {
  private static final int BLOCK = 128 << 10;
  private static final int SAME_DIRECTORIES = 0;
  private static final int OTHER_DIRECTORIES = 1;

  /** The columns of texts. */
  private static final int NAMES = 0;

  private static final int ETAGS = 1;
  private static final int COLUMNS = 2;

  private final Blocks blocks;
  private final int count;
  private final long bytes;
  private final Map<Path, Total> totals;

  private FileEntries(Builder builder) {
    this.blocks = builder.blocks;
    this.count = builder.count;
    this.bytes = builder.bytes;
    this.totals = Collections.unmodifiableMap(builder.totals);
  }

  /**
   * A list in the making.
   *
   * @param inMemory how many bytes may stay in memory; what is more goes to a local file
   */
  public static Builder builder(int inMemory) {
    return new Builder(inMemory);
  }

  /** How many files there are. */
  public int count() {
    return count;
  }

  /** The sum of the files' lengths, in bytes. */
  public long bytes() {
    return bytes;
  }

  /** How many files, and bytes, go directly into each directory. */
  public Map<Path, Total> totals() {
    return totals;
  }

  /** The files; what the iterator throws is unchecked, since it reads the local file. */
  @Override
  public Iterator<FileEntry> iterator() {
    return new Entries();
  }

  /** Removes the local file, if there is one. The list cannot be read any more. */
  @Override
  public void close() throws IOException {
    blocks.close();
  }

  /** What goes into one directory. */
  public static final class Total {
    private int files;
    private long bytes;

    private void add(long size) {
      files++;
      bytes += size;
    }

    /** How many files. */
    public int files() {
      return files;
    }

    /** The sum of their lengths. */
    public long bytes() {
      return bytes;
    }
  }

  /** A list in the making. Not for use by several threads. */
  public static final class Builder implements Closeable {
    private final Blocks blocks;
    private final Rows.Writer rows = new Rows.Writer(COLUMNS, BLOCK / 16);
    private Path source;
    private Path destination;
    private int count;
    private long bytes;
    private final Map<Path, Total> totals = new HashMap<>();
    private Total total;
    private boolean built;

    private Builder(int inMemory) {
      this.blocks = new Blocks(inMemory);
    }

    /** Adds a file. */
    public Builder add(FileEntry file) throws IOException {
      if (isBefore(file.sourceDirectory(), source)
          && isBefore(file.destinationDirectory(), destination)) {
        rows.number(SAME_DIRECTORIES);
      } else {
        rows.number(OTHER_DIRECTORIES);
        source = file.sourceDirectory();
        destination = file.destinationDirectory();
        total = totals.computeIfAbsent(destination, directory -> new Total());
        rows.plain(PathText.write(source)).plain(PathText.write(destination));
      }
      rows.text(NAMES, file.name())
          .plain(file.sourceName().equals(file.name()) ? "" : file.sourceName())
          .text(ETAGS, file.etag())
          .number(file.size())
          .number(file.modificationTime());
      count = Math.incrementExact(count);
      bytes += file.size();
      total.add(file.size());
      if (rows.length() >= BLOCK) {
        endBlock();
      }
      return this;
    }

    /** Neighbours are in the same directories, mostly, which then are the same objects. */
    @SuppressWarnings("ReferenceEquality")
    private static boolean isBefore(Path directory, Path before) {
      return directory == before || directory.equals(before);
    }

    /** The finished list, which now has to be closed instead of this. */
    public FileEntries build() throws IOException {
      endBlock();
      built = true;
      return new FileEntries(this);
    }

    /** Drops what was added, unless it was built. */
    @Override
    public void close() throws IOException {
      if (!built) {
        blocks.close();
      }
    }

    private void endBlock() throws IOException {
      if (rows.length() > 0) {
        blocks.add(rows.take());
        source = null;
        destination = null;
      }
    }
  }

  /** Reads the blocks one by one. */
  private final class Entries implements Iterator<FileEntry> {
    private int nextBlock;
    private Rows.Reader block = reader(new byte[0]);
    private Path source;
    private Path destination;

    @Override
    public boolean hasNext() {
      return block.hasMore() || nextBlock < blocks.count();
    }

    @Override
    public FileEntry next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      if (!block.hasMore()) {
        block = reader(content(nextBlock++));
      }
      if (block.number() == OTHER_DIRECTORIES) {
        source = new Path(URI.create(block.plain()));
        destination = new Path(URI.create(block.plain()));
      }
      String name = block.text(NAMES);
      String sourceName = block.plain();
      String etag = block.text(ETAGS);
      return new FileEntry(
          source,
          sourceName.isEmpty() ? name : sourceName,
          destination,
          name,
          new FileIdentity(block.number(), etag, block.number()));
    }

    private Rows.Reader reader(byte[] content) {
      return new Rows.Reader(COLUMNS, content);
    }

    private byte[] content(int number) {
      try {
        return blocks.get(number);
      } catch (IOException e) {
        throw new UncheckedIOException(
            "The job's list of files cannot be read back from " + blocks + ": " + e, e);
      }
    }
  }

  /**
   * Blocks of bytes: the first ones in memory, and what does not fit there in a local file, in the
   * JVM's directory for temporary files. The file is made when it is first needed, and gone when it
   * is closed or the JVM ends. May be read by many threads.
   */
  private static final class Blocks implements Closeable {
    private final List<byte[]> inMemory = new ArrayList<>();

    /** Of each block in the file. */
    private final List<Long> ends = new ArrayList<>();

    private long memoryLeft;
    private java.nio.file.Path path;
    private FileChannel channel;

    Blocks(long memory) {
      this.memoryLeft = memory;
    }

    synchronized int count() {
      return inMemory.size() + ends.size();
    }

    synchronized void add(byte[] block) throws IOException {
      // One that does not fit ends the use of memory, so that later, smaller ones keep order.
      if (ends.isEmpty() && block.length <= memoryLeft) {
        memoryLeft -= block.length;
        inMemory.add(block);
        return;
      }
      if (channel == null) {
        path =
            Files.createTempFile(
                "manifest-committer-" + ProcessHandle.current().pid() + "-", ".files");
        channel =
            FileChannel.open(
                path,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE);
      }
      long position = begin(ends.size());
      ByteBuffer rest = ByteBuffer.wrap(block);
      while (rest.hasRemaining()) {
        channel.write(rest, position + rest.position());
      }
      ends.add(position + block.length);
    }

    synchronized byte[] get(int number) throws IOException {
      int inFile = number - inMemory.size();
      if (inFile < 0) {
        return inMemory.get(number);
      }
      long position = begin(inFile);
      ByteBuffer content = ByteBuffer.allocate((int) (ends.get(inFile) - position));
      while (content.hasRemaining()) {
        if (channel.read(content, position + content.position()) < 0) {
          throw new EOFException(path + " was cut short by another program");
        }
      }
      return content.array();
    }

    private long begin(int inFile) {
      return inFile == 0 ? 0 : ends.get(inFile - 1);
    }

    @Override
    public synchronized void close() throws IOException {
      if (channel != null) {
        channel.close();
      }
    }

    @Override
    public synchronized String toString() {
      return path == null ? "memory" : path.toString();
    }
  }
}
