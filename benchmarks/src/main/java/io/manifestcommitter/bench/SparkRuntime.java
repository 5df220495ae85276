// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/** As much of a Spark as the commit protocols of its executors ask for. */
final class SparkRuntime {
  private SparkRuntime() {}

  /** From here on tasks may commit; none of them races another, so nobody is asked which may. */
  static void start() {
    SparkConf conf =
        new SparkConf(false).set("spark.hadoop.outputCommitCoordination.enabled", "false");
    SparkEnv.set(
        new SparkEnv(
            "driver", null, null, null, null, null, null, null, null, null, null, null, null,
            conf));
  }
}
