// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.plan.PlanRejectedException;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
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

  /**
   * Refuses to overwrite a location that is a symbolic link: the job stages in it, so behind the
   * link, and what is there cannot be told from what the link leads to. One request where there are
   * links.
   *
   * @throws PlanRejectedException naming it
   */
  static void requireNoLink(Store store, Path location) throws IOException {
    if (store.traits(location).hasLinks()
        && store.status(location).flatMap(StoreEntry::linkTarget).isPresent()) {
      throw new PlanRejectedException(
          "The custom location "
              + location
              + " is a symbolic link, and is to be overwritten: that would delete what it leads"
              + " to. Remove the link, or set the partition's location to where it leads.");
    }
  }
}
