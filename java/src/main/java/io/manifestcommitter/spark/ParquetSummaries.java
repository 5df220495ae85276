// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import java.lang.reflect.InvocationTargetException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parquet's summary files, {@code _metadata} and {@code _common_metadata}, of a table. With Spark's
 * own protocol it is Parquet's committer that writes them; here nobody asks that committer for
 * anything else.
 */
final class ParquetSummaries {
  private static final Logger LOG = LoggerFactory.getLogger(ParquetSummaries.class);
  private static final String FORMAT = "org.apache.parquet.hadoop.ParquetOutputFormat";
  private static final String COMMITTER = "org.apache.parquet.hadoop.ParquetOutputCommitter";

  private ParquetSummaries() {}

  /**
   * Writes what {@code parquet.summary.metadata.level} asks for, if this is a job that writes
   * Parquet; for that Parquet opens every file of the table. Spark sets the level to {@code NONE}
   * where the user set none: then there is no request. Never fails: the table is complete without
   * them.
   *
   * @param table whose files are in place
   */
  static void write(JobContext context, Path table) {
    try {
      Class<?> format = context.getOutputFormatClass();
      if (!format.getName().equals(FORMAT)) {
        return;
      }
      // Beside the format, wherever that was loaded from: Parquet is no dependency of ours.
      Class.forName(COMMITTER, true, format.getClassLoader())
          .getMethod("writeMetaDataFile", Configuration.class, Path.class)
          .invoke(null, context.getConfiguration(), table);
    } catch (InvocationTargetException e) {
      warn(table, e.getCause());
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      warn(table, e);
    }
  }

  private static void warn(Path table, Throwable cause) {
    LOG.warn(
        "{} is written, but not its Parquet summary files; those that are there may be old. Delete"
            + " _metadata and _common_metadata, or set parquet.summary.metadata.level to NONE",
        table,
        cause);
  }
}
