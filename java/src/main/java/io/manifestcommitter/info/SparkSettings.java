// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import com.fasterxml.jackson.databind.JsonNode;
import io.manifestcommitter.cli.CommandLine.Setting;
import io.manifestcommitter.cli.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;

/** Those settings of a Spark session that decide how it commits. Immutable. */
final class SparkSettings {
  static final String PROTOCOL = "spark.sql.sources.commitProtocolClass";
  static final String PARQUET_COMMITTER = "spark.sql.parquet.output.committer.class";
  static final String OUTPUT_COMMITTER = "spark.sql.sources.outputCommitterClass";
  static final String STREAMING_PROTOCOL = "spark.sql.streaming.commitProtocolClass";
  static final String JARS = "spark.jars";
  static final String DRIVER_CLASS_PATH = "spark.driver.extraClassPath";

  static final String PLUGINS = "spark.plugins";
  static final String EXTENSIONS = "spark.sql.extensions";
  static final String GLUTEN = "spark.gluten.enabled";
  static final String GLUTEN_WRITES = "spark.gluten.sql.native.writer.enabled";
  static final String COMET = "spark.comet.enabled";
  static final String COMET_WRITES = "spark.comet.parquet.write.enabled";

  /** Fabric's native execution engine. */
  static final String FABRIC = "spark.native.enabled";

  /** Databricks notes there that a cluster runs Photon. */
  static final String DATABRICKS_ENGINE = "spark.databricks.clusterUsageTags.runtimeEngine";

  /** Spark has a default of its own for this key of Hadoop's. */
  static final String ALGORITHM = FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION;

  private static final String SPARK = "spark.";
  private static final String SPARK_HADOOP = "spark.hadoop.";
  private static final String DEFAULT = "Spark's default";

  /** Whether there is a session, or the settings of one. */
  final boolean known;

  private final Map<String, Setting> settings;

  private SparkSettings(boolean known, Map<String, Setting> settings) {
    this.known = known;
    this.settings = Map.copyOf(settings);
  }

  /** No session, and nothing known of one. */
  static SparkSettings unknown() {
    return new SparkSettings(false, Map.of());
  }

  /** A session with these settings, and Spark's defaults for all others. */
  static SparkSettings of(Map<String, Setting> settings) {
    return new SparkSettings(true, settings);
  }

  /**
   * A session as others than Java tell of it.
   *
   * @param json an object of {@code "key": {"value": ..., "source": ...}}
   */
  static SparkSettings parse(String json) throws IOException {
    Map<String, Setting> settings = new TreeMap<>();
    Json.read(json.getBytes(StandardCharsets.UTF_8))
        .fields()
        .forEachRemaining(
            field -> {
              JsonNode set = field.getValue();
              String value = set.get("value").asText();
              settings.put(field.getKey(), new Setting(value, set.get("source").asText()));
            });
    return of(settings);
  }

  /** Sets what Spark sets in Hadoop's configuration, whatever Hadoop's own files say. */
  static void setDefaults(Configuration conf) {
    conf.set(ALGORITHM, "1", DEFAULT);
  }

  /**
   * Hadoop's configuration as a session has it: Hadoop's own files, then all that begins with
   * {@code spark.hadoop.}, then what is no setting of Spark.
   */
  Configuration hadoopConfiguration() {
    Configuration conf = new Configuration();
    setDefaults(conf);
    settings.forEach(
        (key, setting) -> {
          if (key.startsWith(SPARK_HADOOP)) {
            conf.set(key.substring(SPARK_HADOOP.length()), setting.value, key);
          }
        });
    settings.forEach(
        (key, setting) -> {
          if (!key.startsWith(SPARK)) {
            conf.set(key, setting.value, setting.source);
          }
        });
    return conf;
  }

  /** What Spark SQL commits by. */
  Setting protocol() {
    return get(PROTOCOL).orElse(new Setting(ClassNames.SPARK_PROTOCOL, DEFAULT));
  }

  /** The class that Spark loads for every Parquet write, and uses under its own protocol. */
  Setting parquetCommitter() {
    return get(PARQUET_COMMITTER).orElse(new Setting(ClassNames.PARQUET_COMMITTER, DEFAULT));
  }

  /** What streaming queries commit by. */
  Setting streamingProtocol() {
    return get(STREAMING_PROTOCOL).orElse(new Setting(ClassNames.STREAMING_PROTOCOL, DEFAULT));
  }

  /** Whether a switch is on, or would be where it is not set. */
  boolean isOn(String key, boolean otherwise) {
    return get(key).map(setting -> Boolean.parseBoolean(setting.value.trim())).orElse(otherwise);
  }

  /** The value of a key that is set. */
  Optional<Setting> get(String key) {
    return Optional.ofNullable(settings.get(key)).filter(setting -> !setting.value.isBlank());
  }
}
