// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.IOException;
import java.lang.reflect.Method;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rename that hadoop-azure has for committers, {@code
 * ResilientCommitByRename.commitSingleFileByRename} (MAPREDUCE-7341, Hadoop 3.3.5). One request,
 * which carries the etag of the file. By the etag the driver tells, after a lost response, that the
 * file was renamed. Called by reflection, because the committer also runs with drivers that do not
 * have it. Safe for use by many threads.
 */
final class ResilientRename {
  private static final Logger LOG = LoggerFactory.getLogger(ResilientRename.class);

  private final FileSystem fs;
  private volatile Call call;

  ResilientRename(FileSystem fs) {
    this.fs = fs;
  }

  /** Whether it renames on a filesystem. */
  boolean isOf(FileSystem other) {
    return fs == other;
  }

  /** Whether the driver has the call and can use it for this file. Makes no request. */
  boolean isAvailable(FileEntry file) {
    return !file.etag().isEmpty() && call(file.source()).method != null;
  }

  /**
   * Renames a file.
   *
   * @return true; whatever else there is to be said the driver throws
   */
  boolean run(FileEntry file) throws IOException {
    Call known = call(file.source());
    DriverCall.invoke(known.method, known.target, file.source(), file.destination(), file.etag());
    return true;
  }

  private Call call(Path path) {
    Call known = call;
    if (known == null) {
      known = find(path);
      call = known;
    }
    return known;
  }

  private Call find(Path path) {
    try {
      Object target =
          DriverCall.invoke(
              fs.getClass().getMethod("createResilientCommitSupport", Path.class), fs, path);
      for (Class<?> type : target.getClass().getInterfaces()) {
        if (type.getSimpleName().equals("ResilientCommitByRename")) {
          Method method =
              type.getMethod("commitSingleFileByRename", Path.class, Path.class, String.class);
          return new Call(target, method);
        }
      }
    } catch (NoSuchMethodException | IOException | UnsupportedOperationException e) {
      LOG.debug("{} has no rename for committers; FileSystem.rename is used", fs.getUri(), e);
    }
    return new Call(null, null);
  }

  /** What to call, nothing where the driver does not have it. */
  private static final class Call {
    private final Object target;
    private final Method method;

    Call(Object target, Method method) {
      this.target = target;
      this.method = method;
    }
  }
}
