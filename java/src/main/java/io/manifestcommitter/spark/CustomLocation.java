package io.manifestcommitter.spark;

import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import org.apache.hadoop.fs.Path;

/** Rules for a partition that lies outside its table's directory. */
final class CustomLocation {
  private CustomLocation() {}

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
