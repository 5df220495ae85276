// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** A reader that does not wait between its looks. */
public final class WholeLooks {
  private WholeLooks() {}

  /** Where the files of a table are, by where they belong; paths are from the root of the store. */
  public static NavigableMap<String, String> of(Configuration conf, Path table) throws IOException {
    return before(conf, table, null);
  }

  /** As above, as the table was before a job; null for none. */
  public static NavigableMap<String, String> before(Configuration conf, Path table, String before)
      throws IOException {
    Stores stores = new Stores(conf);
    WholeReader reader =
        new WholeReader(
            stores.all(),
            stores.resolve(table),
            new CommitterConfig(conf),
            Optional.ofNullable(before),
            millis -> {});
    NavigableMap<String, String> files = new TreeMap<>();
    reader
        .files()
        .forEach(
            (place, file) -> files.put(place.toUri().getPath(), file.path().toUri().getPath()));
    return files;
  }
}
