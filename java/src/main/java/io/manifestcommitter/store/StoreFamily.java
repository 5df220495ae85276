// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/** Stores of one kind, which {@link Stores#family} tells. */
public enum StoreFamily {
  /** Local volumes. */
  LOCAL,
  /** HDFS, also by HTTP. */
  HDFS,
  /** ADLS Gen2. */
  ABFS,
  /** Google Cloud Storage. */
  GCS,
  /** Amazon S3 through hadoop-aws, whatever scheme its class is bound to. */
  S3,
  /** All others, those that are refused among them. */
  OTHER;

  /**
   * Schemes of stores for whose renames the user vouches: of files and directories, each is one
   * atomic change that keeps length and modification time. {@code verify-store} finds out.
   */
  public static final String ATOMIC_RENAME_SCHEMES =
      "mapreduce.manifest.committer.atomic.rename.schemes";

  private static final String S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem";
  private static final Map<String, StoreFamily> KNOWN =
      Map.of(
          "file", LOCAL,
          "hdfs", HDFS,
          "webhdfs", HDFS,
          "swebhdfs", HDFS,
          "abfs", ABFS,
          "abfss", ABFS,
          "gs", GCS,
          "s3a", S3);

  /** By a scheme; if that is none of ours, by the class to which it is bound. */
  static StoreFamily of(String scheme, Configuration conf) {
    StoreFamily known = KNOWN.get(scheme);
    if (known != null) {
      return known;
    }
    return isS3a(conf.getTrimmed("fs." + scheme + ".impl", ""), conf) ? S3 : OTHER;
  }

  /** Whether the user vouches for the renames of stores of a scheme. */
  static boolean isVouchedFor(String scheme, Configuration conf) {
    return List.of(conf.getTrimmedStrings(ATOMIC_RENAME_SCHEMES)).contains(scheme);
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
