// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import io.manifestcommitter.testing.DirectFiles.LocalFiles;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** A local directory, through Hadoop's local filesystem. */
public final class LocalGround implements SparkGround, Closeable {
  private final Configuration conf = new Configuration(false);
  private final RequestFaults faults = RequestFaults.bind(conf);
  private final File root;
  private final LocalFiles local;

  /** All that lies below {@code root}, which may not exist yet. */
  public LocalGround(File root) {
    this.root = root;
    this.local = new LocalFiles(root);
    conf.set("fs.defaultFS", "file:///");
  }

  @Override
  public Configuration configuration() {
    return new Configuration(conf);
  }

  @Override
  public Path path(String path) {
    return new Path("file:" + root.getPath() + path);
  }

  @Override
  public void put(String path, String content) {
    try {
      local.write(path.substring(1), content.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public NavigableMap<String, String> files() {
    NavigableMap<String, String> files = new TreeMap<>();
    try {
      local.files().forEach((path, content) -> files.put("/" + path, content));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files;
  }

  @Override
  public void onRequest(Fault fault) {
    int above = root.getPath().length();
    faults.onRequest(
        (number, operation, path) -> fault.fate(number, operation, path.substring(above)));
  }

  @Override
  public void noFault() {
    faults.noFault();
  }

  /** Refuses renames to names that begin so. */
  public void refuseRenamesTo(String name) {
    faults.refuse("rename", path -> path.getName().startsWith(name));
  }

  @Override
  public void close() throws IOException {
    faults.close();
  }
}
