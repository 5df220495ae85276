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
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.hadoop.fs.Path;

/**
 * A long list of file entries in little memory. A million files of Spark with etags take 29 bytes
 * each if they come directory by directory, and 136 if each is in another directory than the one
 * before. Entries past a bound take no memory: they are in a local file (MAPREDUCE-7435: a list of
 * all files filled a driver's heap). Written once by one thread, then read any number of times in
 * the order of writing.
 *
 * <p>To be closed, which removes the local file; so does the end of the JVM.
 */
public final class FileEntries extends AbstractCollection<FileEntry> implements Closeable {
  private static final int BLOCK = 128 << 10;
  private static final int SAME_DIRECTORIES = 0;
  private static final int OTHER_DIRECTORIES = 1;

  /** The columns of texts. */
  private static final int NAMES = 0;

  private static final int ETAGS = 1;
  private static final int COLUMNS = 2;

  private final Map<Path, LongSummaryStatistics> totals = new HashMap<>();
  private int count;
  private long bytes;

  /** The blocks of rows: the first ones in memory, the others in the local file. */
  private final List<Supplier<byte[]>> blocks = new ArrayList<>();

  private long memoryLeft;

  /** In the JVM's directory for temporary files; made when it is first needed. */
  private java.nio.file.Path file;

  private FileChannel channel;

  private FileEntries(int inMemory) {
    this.memoryLeft = inMemory;
  }

  /**
   * A list in the making.
   *
   * @param inMemory how many bytes may stay in memory; what is more goes to a local file
   */
  public static Builder builder(int inMemory) {
    return new Builder(inMemory);
  }

  @Override
  public int size() {
    return count;
  }

  /** The sum of the files' lengths, in bytes. */
  public long bytes() {
    return bytes;
  }

  /** The lengths of the files that go directly into each directory. */
  public Map<Path, LongSummaryStatistics> totals() {
    return Collections.unmodifiableMap(totals);
  }

  /** The files; what the iterator throws is unchecked, since it reads the local file. */
  @Override
  public Iterator<FileEntry> iterator() {
    return new Entries();
  }

  /** Removes the local file, if there is one. The list cannot be read any more. */
  @Override
  public void close() throws IOException {
    if (channel != null) {
      channel.close();
    }
  }

  @Override
  public String toString() {
    return count + " files";
  }

  private void addBlock(byte[] block) throws IOException {
    if (block.length <= memoryLeft) {
      memoryLeft -= block.length;
      blocks.add(() -> block);
      return;
    }
    if (channel == null) {
      String name = "manifest-committer-" + ProcessHandle.current().pid() + "-";
      file = Files.createTempFile(name, ".files");
      channel =
          FileChannel.open(
              file,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE,
              StandardOpenOption.DELETE_ON_CLOSE);
    }
    long position = channel.size();
    ByteBuffer rest = ByteBuffer.wrap(block);
    while (rest.hasRemaining()) {
      channel.write(rest, position + rest.position());
    }
    blocks.add(() -> inFile(position, block.length));
  }

  private byte[] inFile(long position, int length) {
    ByteBuffer content = ByteBuffer.allocate(length);
    try {
      while (content.hasRemaining()) {
        if (channel.read(content, position + content.position()) < 0) {
          throw new EOFException("another program cut it short");
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          "The job's list of files cannot be read back from " + file + ": " + e, e);
    }
    return content.array();
  }

  /** A list in the making. Not for use by several threads. */
  public static final class Builder implements Closeable {
    private final FileEntries entries;
    private final Rows.Writer rows = new Rows.Writer(COLUMNS, BLOCK / 16);
    private Optional<Path> source;
    private Path destination;
    private LongSummaryStatistics total;
    private boolean built;

    private Builder(int inMemory) {
      this.entries = new FileEntries(inMemory);
    }

    public Builder add(FileEntry file) throws IOException {
      if (built) {
        throw new IllegalStateException("The list is finished");
      }
      if (file.sourceDirectory().equals(source)
          && file.destinationDirectory().equals(destination)) {
        rows.number(SAME_DIRECTORIES);
      } else {
        rows.number(OTHER_DIRECTORIES);
        source = file.sourceDirectory();
        destination = file.destinationDirectory();
        total =
            entries.totals.computeIfAbsent(destination, directory -> new LongSummaryStatistics());
        rows.plain(source.map(PathText::write).orElse("")).plain(PathText.write(destination));
      }
      rows.text(NAMES, file.name())
          .plain(file.sourceName().equals(file.name()) ? "" : file.sourceName())
          .text(ETAGS, file.etag())
          .number(file.size())
          .number(file.modificationTime());
      entries.count = Math.incrementExact(entries.count);
      entries.bytes += file.size();
      total.accept(file.size());
      if (rows.length() >= BLOCK) {
        endBlock();
      }
      return this;
    }

    /** The finished list, which now has to be closed instead of this. */
    public FileEntries build() throws IOException {
      endBlock();
      built = true;
      return entries;
    }

    /** Drops what was added, unless it was built. */
    @Override
    public void close() throws IOException {
      if (!built) {
        entries.close();
      }
    }

    private void endBlock() throws IOException {
      if (rows.length() > 0) {
        entries.addBlock(rows.take());
        source = null;
        destination = null;
      }
    }
  }

  /** Reads the blocks one by one. */
  private final class Entries implements Iterator<FileEntry> {
    private int nextBlock;
    private Rows.Reader block = new Rows.Reader(COLUMNS, new byte[0]);
    private Optional<Path> source;
    private Path destination;

    @Override
    public boolean hasNext() {
      return block.hasMore() || nextBlock < blocks.size();
    }

    @Override
    public FileEntry next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      if (!block.hasMore()) {
        block = new Rows.Reader(COLUMNS, blocks.get(nextBlock++).get());
      }
      if (block.number() == OTHER_DIRECTORIES) {
        String from = block.plain();
        source = from.isEmpty() ? Optional.empty() : Optional.of(new Path(URI.create(from)));
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
  }
}
