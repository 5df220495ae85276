// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.BuildInfo;
import io.manifestcommitter.ManifestCommitter;
import io.manifestcommitter.ManifestCommitterFactory;
import io.manifestcommitter.store.StoreFamily;
import java.security.CodeSource;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.util.VersionInfo;

/**
 * The committers and protocols that are known by name, and the jars that they come in. By name,
 * since none of the others need be on the class path, and since ours may be there twice.
 */
final class ClassNames {
  static final String FACTORY = ManifestCommitterFactory.class.getName();
  static final String COMMITTER = ManifestCommitter.class.getName();
  static final String PROTOCOL = "io.manifestcommitter.spark.ManifestCommitProtocol";

  static final String SPARK_PROTOCOL =
      "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol";
  static final String STOCK_PROTOCOL =
      "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol";
  static final String STOCK_PARQUET_COMMITTER =
      "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter";
  static final String PARQUET_COMMITTER = "org.apache.parquet.hadoop.ParquetOutputCommitter";
  static final String STREAMING_PROTOCOL =
      "org.apache.spark.sql.execution.streaming.ManifestFileCommitProtocol";
  static final String PROTOCOL_BASE = "org.apache.spark.internal.io.FileCommitProtocol";
  static final String S3A_FACTORY = "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory";

  /** The FileSystem of Google's connector, and the AbstractFileSystem beside it. */
  static final String GOOGLES_GS = "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem";

  static final String GOOGLES_ABSTRACT_GS = "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFS";

  /** The FileSystem of Hadoop's own connector, from 3.5.0 on the default of {@code gs}. */
  static final String HADOOPS_GS = "org.apache.hadoop.fs.gs.GoogleHadoopFileSystem";

  /**
   * The backend of Gluten that writes only where it is told to; Velox writes unless told not to.
   */
  static final String GLUTENS_CLICKHOUSE = "org.apache.gluten.backendsapi.clickhouse.CHBackend";

  static final String ABFS_PACKAGE = "org.apache.hadoop.fs.azurebfs.";

  /** What the names of classes begin with, each followed by what brings these classes. */
  private static final List<String> JARS =
      List.of(
          "io.manifestcommitter.",
          "manifest-committer-" + version() + ".jar",
          "org.apache.hadoop.fs.azure",
          hadoop("hadoop-azure"),
          "org.apache.hadoop.fs.adl.",
          hadoop("hadoop-azure-datalake"),
          "org.apache.hadoop.fs.s3a.",
          hadoop("hadoop-aws"),
          "org.apache.hadoop.fs.gs.",
          hadoop("hadoop-gcp"),
          "com.google.cloud.hadoop.",
          StoreFamily.GCS.connector,
          "org.apache.spark.internal.io.cloud.",
          "org.apache.spark:spark-hadoop-cloud, of Spark's version",
          "org.apache.hadoop.mapreduce.lib.output.committer.manifest.",
          "org.apache.hadoop:hadoop-mapreduce-client-core, 3.3.5 or newer");

  /** The protocols of Spark itself. */
  static final Set<String> SPARKS_PROTOCOLS =
      Set.of(SPARK_PROTOCOL, "org.apache.spark.internal.io.HadoopMapReduceCommitProtocol");

  /** What makes Hadoop's own manifest committer. */
  static final Set<String> HADOOPS_FACTORIES =
      Set.of(
          "org.apache.hadoop.mapreduce.lib.output.committer.manifest.ManifestCommitterFactory",
          "org.apache.hadoop.fs.azurebfs.commit.AzureManifestCommitterFactory");

  private ClassNames() {}

  /** The jar that brings a class: our file, an artifact, or for unknown classes a description. */
  static String jarOf(String className) {
    for (int i = 0; i < JARS.size(); i += 2) {
      if (className.startsWith(JARS.get(i))) {
        return JARS.get(i + 1);
      }
    }
    return "the jar of " + className;
  }

  /** Whether a class is there; does not load it. */
  static boolean loads(ClassLoader loader, String className) {
    return loader.getResource(className.replace('.', '/') + ".class") != null;
  }

  /** The name of the file that a class was loaded from. */
  static String jarWith(Class<?> loaded) {
    CodeSource source = loaded.getProtectionDomain().getCodeSource();
    if (source == null || source.getLocation() == null) {
      return "an unknown place";
    }
    String location = source.getLocation().getPath();
    return location.substring(location.lastIndexOf('/', location.length() - 2) + 1);
  }

  /** The version of our jar. */
  static String version() {
    try {
      return BuildInfo.version();
    } catch (IllegalStateException e) {
      return "of an unknown version";
    }
  }

  private static String hadoop(String artifact) {
    return "org.apache.hadoop:" + artifact + ":" + VersionInfo.getVersion();
  }
}
