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
import java.util.Iterator;
import java.util.List;
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

  private final List<Block> blocks;
  private final SpillFile spill;
  private final int count;
  private final long bytes;

  private FileEntries(Builder builder) {
    this.blocks = List.copyOf(builder.blocks);
    this.spill = builder.spill;
    this.count = builder.count;
    this.bytes = builder.bytes;
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

  /** A list in the making. Not for use by several threads. */
  public static final class Builder implements Closeable {
    private final List<Block> blocks = new ArrayList<>();
    private final SpillFile spill = new SpillFile();
    private final ByteArrayOutputStream block = new ByteArrayOutputStream(BLOCK);
    private final DataOutputStream out = new DataOutputStream(block);
    private String source = "";
    private String destination = "";
    private long memoryLeft;
    private int count;
    private long bytes;
    private boolean built;

    private Builder(int inMemory) {
      this.memoryLeft = inMemory;
    }

    /** Adds a file. */
    public Builder add(FileEntry file) throws IOException {
      source = writePath(file.source(), source);
      destination = writePath(file.destination(), destination);
      writeText(file.etag());
      out.writeLong(file.size());
      out.writeLong(file.modificationTime());
      count = Math.incrementExact(count);
      bytes += file.size();
      if (block.size() >= BLOCK) {
        endBlock();
      }
      return this;
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

    /** Writes what differs from the path before: neighbours have long beginnings in common. */
    private String writePath(Path path, String before) throws IOException {
      String text = PathText.write(path);
      int common = Packed.shared(before, text);
      out.writeInt(common);
      writeText(text.substring(common));
      return text;
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
      source = "";
      destination = "";
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
    private String source = "";
    private String destination = "";

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
        source = "";
        destination = "";
      }
      source = readPath(source);
      destination = readPath(destination);
      String etag = readText();
      return new FileEntry(
          new Path(URI.create(source)),
          new Path(URI.create(destination)),
          block.getLong(),
          etag,
          block.getLong());
    }

    private String readPath(String before) {
      String common = before.substring(0, block.getInt());
      return common + readText();
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
