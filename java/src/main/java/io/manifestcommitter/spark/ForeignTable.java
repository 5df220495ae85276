package io.manifestcommitter.spark;

import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
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
   * @return what stands at the path; for a file, that file
   * @throws IOException naming what was found
   */
  static Found refuse(Store store, Path table) throws IOException {
    boolean[] isFile = {false};
    List<String> found = new ArrayList<>();
    List<Path> metadata = new ArrayList<>();
    try {
      store.list(
          table,
          entry -> {
            isFile[0] |= entry.path().equals(table);
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
    } catch (FileNotFoundException e) {
      return Found.NOTHING;
    }
    if (!found.isEmpty()) {
      throw new IOException(
          table
              + " holds "
              + found.get(0)
              + ", so it is a Delta, Hudi or Iceberg table. Overwriting it as plain files would destroy it: write it"
              + " with its own format, or remove the table first. Nothing was touched.");
    }
    return isFile[0] ? Found.FILE : Found.DIRECTORY;
  }

  /** What stands at a table's path. */
  static Found look(Store store, Path table) throws IOException {
    return store
        .status(table)
        .map(entry -> entry.isDirectory() ? Found.DIRECTORY : Found.FILE)
        .orElse(Found.NOTHING);
  }

  /** What stands at a path. */
  enum Found {
    NOTHING,
    FILE,
    DIRECTORY
  }

  private static void noteIceberg(StoreEntry entry, List<String> found) {
    if (entry.name().endsWith(".metadata.json") || entry.name().equals("version-hint.text")) {
      found.add(ICEBERG_METADATA + "/" + entry.name());
    }
  }
}
