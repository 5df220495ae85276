package io.manifestcommitter.manifest;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.Path;

/** Stub. */
public final class FileList {
  private FileList() {}

  /** Stub. */
  public static void write(
      OutputStream out, String jobId, Path table, long count, Iterable<FileEntry> files)
      throws IOException {}
}
