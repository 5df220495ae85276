// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** A reader that does not wait between its looks. */
public final class WholeLooks {
  private WholeLooks() {}

  /** Where the files of a table are, by where they belong; paths are from the root of the store. */
  public static NavigableMap<String, String> of(Configuration conf, Path table) throws IOException {
    Stores stores = new Stores(conf);
    WholeReader reader =
        new WholeReader(
            stores.all(), stores.resolve(table), new CommitterConfig(conf), millis -> {});
    NavigableMap<String, String> files = new TreeMap<>();
    for (WholeFile file : reader.files()) {
      files.put(file.place().toUri().getPath(), file.at().toUri().getPath());
    }
    return files;
  }
}
