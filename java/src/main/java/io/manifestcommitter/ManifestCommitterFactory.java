// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;

/**
 * Hadoop's way into the committer: the value of {@code
 * mapreduce.outputcommitter.factory.scheme.<scheme>}, for {@code abfs}, {@code abfss} and {@code
 * gs}, and for {@code hdfs} and {@code file} where wanted. The key is the literal scheme of the
 * path.
 */
public class ManifestCommitterFactory extends PathOutputCommitterFactory {
  /** Called by Hadoop through its configuration. */
  public ManifestCommitterFactory() {}

  /**
   * A committer for a job that writes to {@code outputPath}.
   *
   * @throws io.manifestcommitter.store.UnsupportedStoreException on {@code s3a} and other stores
   *     that are not served; it says what to use there
   */
  @Override
  public PathOutputCommitter createOutputCommitter(Path outputPath, TaskAttemptContext context)
      throws IOException {
    return new ManifestCommitter(outputPath, context);
  }
}
