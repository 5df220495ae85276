// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.DataOutputStream;
import java.io.IOException;
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
          // Its count ends at two gigabytes, far beyond what such a file holds.
          DataOutputStream counted = new DataOutputStream(out);
          content.writeTo(counted);
          counted.flush();
          size[0] = counted.size();
        });
    return size[0];
  }
}
