// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.store.UnsupportedStoreException;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.fs.Path;

/** Rules for a partition that lies outside its table's directory. */
final class CustomLocation {
  private CustomLocation() {}

  /**
   * The location by the name of its store, which is opened. Spark completes a location without a
   * host by the one of the table, though the location may be on another store.
   *
   * @throws IOException if there is no such place, or it holds the table; naming both
   */
  static Path resolve(Stores stores, Path named, Path table) throws IOException {
    Path location;
    try {
      location = stores.resolve(named);
    } catch (UnsupportedStoreException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      URI uri = named.toUri();
      boolean isBorrowed =
          uri.getAuthority() != null && uri.getAuthority().equals(table.toUri().getAuthority());
      throw new IOException(
          "The partition location "
              + (isBorrowed ? new Path(uri.getScheme(), null, uri.getPath()) : named)
              + " of the table "
              + table
              + " cannot be opened"
              + (isBorrowed
                  ? ": it is on another store and has no host, so Spark takes it for " + named
                  : "")
              + ". Nothing was written there. Set the partition's location to a directory on the"
              + " table's store, or to the full URI of another store with its host. ("
              + e
              + ")",
          e);
    }
    check(location, table);
    return location;
  }

  /**
   * Refuses a location that holds the table: replacing such a partition would replace the table.
   *
   * @throws IOException naming both
   */
  static void check(Path location, Path table) throws IOException {
    if (StorePaths.isSameOrBelow(location, table)) {
      throw new IOException(
          "The partition location "
              + location
              + " holds the table "
              + table
              + " itself. Nothing was written: give the partition a directory of its own.");
    }
  }
}
