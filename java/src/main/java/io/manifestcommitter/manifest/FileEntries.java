// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.hadoop.fs.Path;

/**
 * A long list of file entries in little memory: about 30 bytes a file, and none past a bound, from
 * where on they lie in a local file (MAPREDUCE-7435: a list of all files filled a driver's heap).
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

  private final List<Block> blocks;
  private final SpillFile spill;
  private final int count;
  private final long bytes;
  private final Map<Path, Total> totals;

  private FileEntries(Builder builder) {
    this.blocks = List.copyOf(builder.blocks);
    this.spill = builder.spill;
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
    spill.close();
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
    private final List<Block> blocks = new ArrayList<>();
    private final SpillFile spill = new SpillFile();
    private final Rows.Writer rows = new Rows.Writer(COLUMNS, BLOCK / 16);
    private Path source;
    private Path destination;
    private long memoryLeft;
    private int count;
    private long bytes;
    private final Map<Path, Total> totals = new HashMap<>();
    private Total total;
    private boolean built;

    private Builder(int inMemory) {
      this.memoryLeft = inMemory;
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
        spill.close();
      }
    }

    private void endBlock() throws IOException {
      if (rows.length() == 0) {
        return;
      }
      byte[] content = rows.take();
      source = null;
      destination = null;
      if (content.length <= memoryLeft) {
        memoryLeft -= content.length;
        blocks.add(new Block(content.length, content, 0));
      } else {
        // One that does not fit ends the use of memory, so that later, smaller ones keep order.
        memoryLeft = 0;
        blocks.add(new Block(content.length, null, spill.append(content)));
      }
    }
  }

  /** Some entries. */
  private static final class Block {
    private final int length;
    private final byte[] content;
    private final long position;

    /**
     * A block.
     *
     * @param content null where it lies in the local file, at {@code position}
     */
    Block(int length, byte[] content, long position) {
      this.length = length;
      this.content = content;
      this.position = position;
    }
  }

  /** Reads the blocks one by one. */
  private final class Entries implements Iterator<FileEntry> {
    private final Iterator<Block> rest = blocks.iterator();
    private Rows.Reader block = reader(new byte[0]);
    private Path source;
    private Path destination;

    @Override
    public boolean hasNext() {
      return block.hasMore() || rest.hasNext();
    }

    @Override
    public FileEntry next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      if (!block.hasMore()) {
        block = reader(content(rest.next()));
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
          block.number(),
          etag,
          block.number());
    }

    private Rows.Reader reader(byte[] content) {
      return new Rows.Reader(COLUMNS, content);
    }

    private byte[] content(Block next) {
      try {
        return next.content != null ? next.content : spill.read(next.position, next.length);
      } catch (IOException e) {
        throw new UncheckedIOException(
            "The job's list of files cannot be read back from " + spill + ": " + e, e);
      }
    }
  }
}
