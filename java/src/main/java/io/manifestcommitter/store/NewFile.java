// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.Path;

/** Writes files, and counts what they hold. */
public final class NewFile {
  private NewFile() {}

  /**
   * Writes a file under a name that nobody looks for: it is renamed once it is complete, so that
   * nobody sees a part of it.
   *
   * @return the rename that is left to do
   */
  public static FileEntry write(Store store, Path temporary, Path name, Store.Content content)
      throws IOException {
    return new FileEntry(temporary, name, write(store, temporary, content), null, 0);
  }

  /**
   * Writes a file of which others may see a part.
   *
   * @return how many bytes it holds
   */
  public static long write(Store store, Path file, Store.Content content) throws IOException {
    long[] size = {0};
    store.write(
        file,
        out -> {
          Counted counted = new Counted(out);
          content.writeTo(counted);
          counted.flush();
          size[0] = counted.count;
        });
    return size[0];
  }

  private static final class Counted extends FilterOutputStream {
    private long count;

    Counted(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int one) throws IOException {
      out.write(one);
      count++;
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(bytes, from, length);
      count += length;
    }
  }
}
