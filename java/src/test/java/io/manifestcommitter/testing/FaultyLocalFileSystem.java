package io.manifestcommitter.testing;

import java.io.IOException;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;

/** The local filesystem, which refuses what a test says. */
public final class FaultyLocalFileSystem extends LocalFileSystem {
  private static volatile Predicate<Path> refusedRename = path -> false;
  private static volatile Predicate<Path> refusedDelete = path -> false;

  /** Serves {@code file:} paths of a configuration. */
  public static void use(Configuration conf) {
    conf.set("fs.file.impl", FaultyLocalFileSystem.class.getName());
    conf.setBoolean("fs.file.impl.disable.cache", true);
  }

  /** Refuses renames to some destinations from now on. */
  public static void refuseRenamesTo(Predicate<Path> destinations) {
    refusedRename = destinations;
  }

  /** Refuses to delete some paths from now on. */
  public static void refuseToDelete(Predicate<Path> paths) {
    refusedDelete = paths;
  }

  /** Refuses nothing any more. */
  public static void refuseNothing() {
    refusedRename = path -> false;
    refusedDelete = path -> false;
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    if (refusedRename.test(destination)) {
      throw new IOException("no rename to " + destination);
    }
    return super.rename(source, destination);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    if (refusedDelete.test(path)) {
      throw new IOException("no deletion of " + path);
    }
    return super.delete(path, recursive);
  }
}
