// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.VersionInfo;

/** Stores of one kind, which {@link Stores#family} tells. */
public enum StoreFamily {
  /** Local volumes. */
  LOCAL("file", ""),
  /** HDFS, also by HTTP. */
  HDFS("hdfs webhdfs swebhdfs", "org.apache.hadoop:hadoop-hdfs-client"),
  /** ADLS Gen2. */
  ABFS("abfs abfss", "org.apache.hadoop:hadoop-azure"),
  /** Google Cloud Storage. */
  GCS("gs", "com.google.cloud.bigdataoss:gcs-connector"),
  /** Amazon S3 through hadoop-aws, whatever scheme its class is bound to. */
  S3("s3a", "org.apache.hadoop:hadoop-aws"),
  /** lakeFS through its own filesystem, which is read only: its API writes. */
  LAKEFS("lakefs", "io.lakefs:hadoop-lakefs-assembly"),
  /** All others, those that are refused among them. */
  OTHER("", "");

  /**
   * Schemes of stores for whose renames the user vouches: of files and directories, each is one
   * atomic change that keeps length and modification time. {@code verify-store} finds out.
   */
  public static final String ATOMIC_RENAME_SCHEMES =
      "mapreduce.manifest.committer.atomic.rename.schemes";

  private static final String HADOOP = "org.apache.hadoop:";
  private static final String S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem";

  private static final Map<String, StoreFamily> BY_SCHEME = bySchemes();

  private final String schemes;

  /** The artifact that brings its FileSystem; empty if none is known. */
  public final String connector;

  /** A kind: its schemes, with spaces between, and its {@link #connector}. */
  StoreFamily(String schemes, String connector) {
    this.schemes = schemes;
    this.connector = connector;
  }

  /**
   * The artifact that brings the FileSystem of a scheme, in the version that goes with Hadoop's.
   */
  public String connectorOf(String scheme) {
    return connector.startsWith(HADOOP)
        ? connector + ":" + VersionInfo.getVersion()
        : connector.isEmpty() ? "the connector of " + scheme + "://" : connector;
  }

  /** The scheme of a path as it is written, or else that of the default filesystem. */
  public static String scheme(Path path, Configuration conf) {
    String scheme = path.toUri().getScheme();
    return scheme != null ? scheme : FileSystem.getDefaultUri(conf).getScheme();
  }

  /** By the scheme of a path, or else that of the default filesystem. */
  static StoreFamily of(Path path, Configuration conf) {
    return of(scheme(path, conf).toLowerCase(Locale.ROOT), conf);
  }

  /** By a scheme; if that is none of ours, by the class to which it is bound. */
  static StoreFamily of(String scheme, Configuration conf) {
    StoreFamily known = BY_SCHEME.get(scheme);
    if (known != null) {
      return known;
    }
    return isS3a(conf.getTrimmed("fs." + scheme + ".impl", ""), conf) ? S3 : OTHER;
  }

  private static Map<String, StoreFamily> bySchemes() {
    Map<String, StoreFamily> found = new HashMap<>();
    for (StoreFamily family : values()) {
      for (String scheme : family.schemes.split(" ", -1)) {
        found.put(scheme, family);
      }
    }
    return Map.copyOf(found);
  }

  /** Whether the user vouches for the renames of stores of a scheme. */
  static boolean isVouchedFor(String scheme, Configuration conf) {
    return List.of(conf.getTrimmedStrings(ATOMIC_RENAME_SCHEMES)).contains(scheme);
  }

  /** What is set for S3A, for one bucket or for all. */
  static String s3aSetting(Configuration conf, String bucket, String key, String otherwise) {
    String ofBucket = "fs.s3a.bucket." + bucket + key.substring("fs.s3a".length());
    return conf.getTrimmed(ofBucket, conf.getTrimmed(key, otherwise));
  }

  /** Whether a class is the one of hadoop-aws, or extends it. */
  private static boolean isS3a(String name, Configuration conf) {
    if (name.equals(S3A)) {
      return true;
    }
    try {
      Class<?> type = conf.getClassByNameOrNull(name);
      while (type != null && !type.getName().equals(S3A)) {
        type = type.getSuperclass();
      }
      return type != null;
    } catch (LinkageError e) {
      return false;
    }
  }
}
