// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.spark.internal.io.FileCommitProtocol;

/** Spark's own commit protocol, for tables on stores that ours does not serve. */
final class SparkProtocol {
  private static final String CLASS =
      "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol";

  private SparkProtocol() {}

  /** What Spark would have used. */
  static FileCommitProtocol instantiate(String jobId, String path, boolean dynamicOverwrite) {
    return FileCommitProtocol.instantiate(CLASS, jobId, path, dynamicOverwrite);
  }

  /**
   * Calls {@code commitJob}, whose second parameter is another class in Scala 2.13 than in 2.12, so
   * that no call compiled against one links against the other.
   */
  static void commitJob(FileCommitProtocol protocol, JobContext context, Object messages)
      throws Throwable {
    for (Method method : FileCommitProtocol.class.getMethods()) {
      if (method.getName().equals("commitJob")) {
        try {
          method.invoke(protocol, context, messages);
          return;
        } catch (InvocationTargetException e) {
          throw e.getCause();
        }
      }
    }
    throw new NoSuchMethodError("FileCommitProtocol.commitJob");
  }
}
