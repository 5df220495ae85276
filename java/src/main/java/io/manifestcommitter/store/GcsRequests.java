package io.manifestcommitter.store;

import java.util.Locale;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;

/** How Google Cloud Storage is asked. */
public enum GcsRequests {
  /** By the client of Google's connector, where it has what is needed. */
  DIRECT,
  /** By Hadoop's {@code FileSystem} calls. */
  FILESYSTEM;

  /** The option that says so. */
  public static final String OPTION = "mapreduce.manifest.committer.gs.requests";

  /**
   * Why FileSystem calls are used where a filesystem of this class is open; empty if they are not.
   * Makes no request.
   */
  public static Optional<String> whyNotDirect(Class<?> fileSystem, Configuration conf) {
    if (of(conf) == FILESYSTEM) {
      return Optional.of(OPTION + " is filesystem");
    }
    try {
      GcsCalls.of(fileSystem, conf);
      return Optional.empty();
    } catch (ReflectiveOperationException | LinkageError e) {
      return Optional.of(e.getMessage());
    }
  }

  /** What was asked for. A value that is none is refused where all options are read. */
  static GcsRequests of(Configuration conf) {
    boolean isFileSystem =
        conf.getTrimmed(OPTION, "").toUpperCase(Locale.ROOT).equals(FILESYSTEM.name());
    return isFileSystem ? FILESYSTEM : DIRECT;
  }
}
