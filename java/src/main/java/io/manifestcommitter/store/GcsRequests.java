package io.manifestcommitter.store;

import java.util.Locale;
import org.apache.hadoop.conf.Configuration;

/** How Google Cloud Storage is asked. */
public enum GcsRequests {
  /** By the client of Google's connector, where it has what is needed. */
  DIRECT,
  /** By Hadoop's {@code FileSystem} calls. */
  FILESYSTEM;

  /** The option that says so. */
  public static final String OPTION = "mapreduce.manifest.committer.gs.requests";

  /** What was asked for. A value that is none is refused where all options are read. */
  static GcsRequests of(Configuration conf) {
    boolean isFileSystem =
        conf.getTrimmed(OPTION, "").toUpperCase(Locale.ROOT).equals(FILESYSTEM.name());
    return isFileSystem ? FILESYSTEM : DIRECT;
  }
}
