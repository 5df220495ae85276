package io.manifestcommitter.manifest;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.zip.Deflater;
import org.apache.hadoop.fs.Path;

/**
 * A long list of file entries in little memory: about 40 bytes a file, and none past a bound, from
 * where on they lie in a local file (design, "Parallelism, rate, memory"; architecture seed,
 * MAPREDUCE-7435). Written once by one thread, then read any number of times in the order of
 * writing.
 *
 * <p>To be closed, which removes the local file; so does the end of the JVM.
 */
public final class FileEntries implements Iterable<FileEntry>, Closeable {
  private static final int BLOCK = 128 << 10;
  private static final int SAME_DIRECTORIES = 0;
  private static final int OTHER_DIRECTORIES = 1;

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
   * @param inMemory how many compressed bytes may stay in memory; what is more goes to a local file
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
    private final ByteArrayOutputStream block = new ByteArrayOutputStream(BLOCK);
    private final DataOutputStream out = new DataOutputStream(block);
    private Path source;
    private Path destination;
    private String name = "";
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
        out.writeByte(SAME_DIRECTORIES);
      } else {
        out.writeByte(OTHER_DIRECTORIES);
        source = file.sourceDirectory();
        destination = file.destinationDirectory();
        total = totals.computeIfAbsent(destination, directory -> new Total());
        writeText(PathText.write(source));
        writeText(PathText.write(destination));
      }
      int shared = Packed.shared(name, file.name());
      out.writeInt(shared);
      writeText(file.name().substring(shared));
      name = file.name();
      writeText(file.sourceName().equals(name) ? "" : file.sourceName());
      writeText(file.etag());
      out.writeLong(file.size());
      out.writeLong(file.modificationTime());
      count = Math.incrementExact(count);
      bytes += file.size();
      total.add(file.size());
      if (block.size() >= BLOCK) {
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

    private void writeText(String text) throws IOException {
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      out.writeInt(utf8.length);
      out.write(utf8);
    }

    private void endBlock() throws IOException {
      if (block.size() == 0) {
        return;
      }
      byte[] plain = block.toByteArray();
      block.reset();
      source = null;
      destination = null;
      name = "";
      byte[] compressed = Packed.deflate(plain, Deflater.BEST_SPEED);
      if (compressed.length <= memoryLeft) {
        memoryLeft -= compressed.length;
        blocks.add(new Block(plain.length, compressed.length, compressed, 0));
      } else {
        // One that does not fit ends the use of memory, so that later, smaller ones keep order.
        memoryLeft = 0;
        blocks.add(new Block(plain.length, compressed.length, null, spill.append(compressed)));
      }
    }
  }

  /** Some entries, compressed together. */
  private static final class Block {
    private final int plainLength;
    private final int length;
    private final byte[] content;
    private final long position;

    /**
     * A block.
     *
     * @param content null where it lies in the local file, at {@code position}
     */
    Block(int plainLength, int length, byte[] content, long position) {
      this.plainLength = plainLength;
      this.length = length;
      this.content = content;
      this.position = position;
    }
  }

  /** Reads the blocks one by one. */
  private final class Entries implements Iterator<FileEntry> {
    private final Iterator<Block> rest = blocks.iterator();
    private ByteBuffer block = ByteBuffer.allocate(0);
    private Path source;
    private Path destination;
    private String name = "";

    @Override
    public boolean hasNext() {
      return block.hasRemaining() || rest.hasNext();
    }

    @Override
    public FileEntry next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      if (!block.hasRemaining()) {
        block = expand(rest.next());
        name = "";
      }
      if (block.get() == OTHER_DIRECTORIES) {
        source = new Path(URI.create(readText()));
        destination = new Path(URI.create(readText()));
      }
      name = name.substring(0, block.getInt()) + readText();
      String sourceName = readText();
      String etag = readText();
      return new FileEntry(
          source,
          sourceName.isEmpty() ? name : sourceName,
          destination,
          name,
          block.getLong(),
          etag,
          block.getLong());
    }

    private String readText() {
      int length = block.getInt();
      String text = new String(block.array(), block.position(), length, StandardCharsets.UTF_8);
      block.position(block.position() + length);
      return text;
    }

    private ByteBuffer expand(Block next) {
      try {
        byte[] packed =
            next.content != null ? next.content : spill.read(next.position, next.length);
        return ByteBuffer.wrap(Packed.inflate(packed, 0, next.plainLength));
      } catch (IOException e) {
        throw new UncheckedIOException(damaged(e), e);
      }
    }

    private String damaged(Exception why) {
      return "The job's list of files cannot be read back from " + spill + ": " + why;
    }
  }
}
