// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import io.manifestcommitter.store.FileRename;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;

/** Recognises a copy of a file, or a part of one, by its content. */
final class Parts {
  private static final int COMPARED = 64 << 10;

  private Parts() {}

  /**
   * Whether {@code copy} may be what a rename of {@code original} that was cut short left: as long,
   * or a part where the store shows parts, and the same at its beginning. Two requests, or none.
   */
  static boolean isCopy(Store store, StoreEntry copy, StoreEntry original) throws IOException {
    FileRename rename = store.traits(copy.path()).fileRename();
    if (!rename.mayLeaveBothEnds() || copy.isDirectory() || original.isDirectory()) {
      return false;
    }
    boolean fits =
        rename.mayShowParts()
            ? copy.length() <= original.length()
            : copy.length() == original.length();
    int compared = (int) Math.min(COMPARED, copy.length());
    try {
      return fits
          && (compared == 0
              || Arrays.equals(
                  store.readStart(copy.path(), compared),
                  store.readStart(original.path(), compared)));
    } catch (FileNotFoundException e) {
      // Somebody moved one of them away meanwhile.
      return false;
    }
  }

  /** As {@link #isCopy}, and less than all of it. */
  static boolean isPart(Store store, StoreEntry copy, StoreEntry original) throws IOException {
    return copy.length() < original.length() && isCopy(store, copy, original);
  }
}
