package io.manifestcommitter.spark;

import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;

/**
 * Recognises tables of formats that keep their own record of files. Overwriting their root as a
 * plain directory would delete that record, and every version of the table with it.
 */
final class ForeignTable {
  private static final String ICEBERG_METADATA = "metadata";

  private ForeignTable() {}

  /**
   * Refuses to overwrite such a table. One request, one more where there is a directory called
   * {@code metadata}.
   *
   * @throws IOException naming what was found
   */
  static void refuse(Store store, Path table) throws IOException {
    List<String> found = new ArrayList<>();
    List<Path> metadata = new ArrayList<>();
    try {
      store.list(
          table,
          entry -> {
            if (entry.isDirectory()
                && (entry.name().equals("_delta_log") || entry.name().equals(".hoodie"))) {
              found.add(entry.name());
            } else if (entry.isDirectory() && entry.name().equals(ICEBERG_METADATA)) {
              metadata.add(entry.path());
            }
          });
      for (Path directory : metadata) {
        store.list(directory, entry -> noteIceberg(entry, found));
      }
    } catch (java.io.FileNotFoundException e) {
      return;
    }
    if (!found.isEmpty()) {
      throw new IOException(
          table
              + " holds "
              + found.get(0)
              + ", so it is a Delta, Hudi or Iceberg table. Overwriting it as plain files would destroy it: write it"
              + " with its own format, or remove the table first. Nothing was touched.");
    }
  }

  private static void noteIceberg(StoreEntry entry, List<String> found) {
    if (entry.name().endsWith(".metadata.json") || entry.name().equals("version-hint.text")) {
      found.add(ICEBERG_METADATA + "/" + entry.name());
    }
  }
}
