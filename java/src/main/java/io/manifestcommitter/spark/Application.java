// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The Spark application that this JVM drives, for reports, which do without it. */
final class Application {
  private static final Map<String, String> SETTINGS =
      Map.of("spark.app.id", "application.id", "spark.app.name", "application.name");

  private static final Logger LOG = LoggerFactory.getLogger(Application.class);

  private Application() {}

  /** Its id, name and version of Spark, by their keys in a report. */
  static Map<String, String> facts() {
    Map<String, String> facts = new TreeMap<>();
    try {
      facts.put("spark.version", org.apache.spark.package$.MODULE$.SPARK_VERSION());
      SparkEnv env = SparkEnv.get();
      if (env != null) {
        addSettings(env.conf(), facts);
      }
    } catch (LinkageError e) {
      LOG.debug("Spark is not complete here, or does not describe itself", e);
    }
    return facts;
  }

  private static void addSettings(SparkConf conf, Map<String, String> facts) {
    SETTINGS.forEach(
        (setting, key) -> {
          if (conf.contains(setting)) {
            facts.put(key, conf.get(setting));
          }
        });
  }
}
