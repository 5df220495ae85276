// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.fs.Path;

/** Finds the files of a table as it was before or after the commit of each job. */
public abstract class TableReader {
  /** Where a streaming query of Spark notes which files of its sink count. */
  static final String STREAM_LOG = "_spark_metadata";

  /** The table, with scheme and authority. */
  public final Path table;

  TableReader(Path table) {
    this.table = table;
  }

  /**
   * The files of the table, each by the place where it belongs, which tells its partition. It may
   * be read elsewhere.
   *
   * @throws FileNotFoundException if there is no table
   * @throws IOException also if it cannot be read as a whole; it says why
   */
  public abstract Map<Path, StoreEntry> files() throws IOException;

  /**
   * What a held job would publish: each file by the place where it would be, where it waits now.
   *
   * @throws IOException if the job is not held any more, or its files wait as uploads
   */
  public abstract Map<Path, StoreEntry> held(String jobId) throws IOException;

  /** The failure of who reads a job that was published or discarded. */
  static IOException notHeld(String jobId, Path table) {
    return new IOException("Job " + jobId + " is not held in " + table + " any more");
  }

  /** The failure of who reads what only such a query's log tells. */
  static IOException isSink(Path table) {
    return new IOException(
        table + " is the sink of a streaming query, whose log says what counts: use spark.read");
  }
}
