package io.manifestcommitter.spark;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/** The Spark application that this JVM drives, for reports; of another one it tells nothing. */
final class Application {
  private static final Map<String, String> SETTINGS =
      Map.of("spark.app.id", "application.id", "spark.app.name", "application.name");

  private Application() {}

  /** Its id, name and version of Spark, by their keys in a report. */
  static Map<String, String> facts() {
    Map<String, String> facts = new TreeMap<>();
    facts.put("spark.version", org.apache.spark.package$.MODULE$.SPARK_VERSION());
    SparkEnv env = SparkEnv.get();
    if (env != null) {
      SparkConf conf = env.conf();
      SETTINGS.forEach(
          (setting, key) -> {
            if (conf.contains(setting)) {
              facts.put(key, conf.get(setting));
            }
          });
    }
    return facts;
  }
}
