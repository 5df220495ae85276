// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** An object of S3 that hadoop-aws 3.4.2 and newer write under a condition, once it is closed. */
final class ConditionalWrite
    extends FSDataOutputStreamBuilder<FSDataOutputStream, ConditionalWrite> {
  /** Where nothing is. */
  static final String IF_NOTHING = "fs.option.create.conditional.overwrite";

  /** In the place of an object with this etag. */
  private static final String IF_ETAG = IF_NOTHING + ".etag";

  private final Writer writer;

  /** Makes the request. */
  @FunctionalInterface
  interface Writer {
    /**
     * Writes the object.
     *
     * @param etag of the one in whose place it goes; empty where nothing may be
     */
    void write(String etag, byte[] content) throws IOException;
  }

  ConditionalWrite(FileSystem fs, Path path, Writer writer) {
    super(fs, path);
    this.writer = writer;
  }

  @Override
  public ConditionalWrite getThisBuilder() {
    return this;
  }

  @Override
  public FSDataOutputStream build() throws IOException {
    rejectUnknownMandatoryKeys(Set.of(IF_NOTHING, IF_ETAG), "for " + getPath());
    String etag = getOptions().get(IF_ETAG, "").replace("\"", "");
    if (etag.isEmpty() && !getOptions().getBoolean(IF_NOTHING, false)) {
      throw new IOException("a write without a condition of " + getPath());
    }
    return new FSDataOutputStream(
        new SeekableBytes.AbortableBytes(content -> writer.write(etag, content)), null);
  }
}
