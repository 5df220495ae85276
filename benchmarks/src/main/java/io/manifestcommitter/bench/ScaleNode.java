// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.nio.file.Path;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * A directory of a {@link SparkScaleStore}, or a file that is not one of the job's. Of the job's
 * files a directory only knows of which partition they are, and how many.
 */
final class ScaleNode implements NodeTree.Node<ScaleNode> {
  private static final int NONE = -1;

  private final NavigableMap<String, ScaleNode> children;
  private final Path content;
  private final long length;
  private final long time;

  /** Whose files were written here: all of them that were not renamed since. */
  private int written = NONE;

  /** Whose files were renamed to here: all of them that were renamed. */
  private int renamed = NONE;

  private int files;

  private ScaleNode(
      NavigableMap<String, ScaleNode> children, Path content, long length, long time) {
    this.children = children;
    this.content = content;
    this.length = length;
    this.time = time;
  }

  static ScaleNode directory(long time) {
    return new ScaleNode(new TreeMap<>(), null, 0, time);
  }

  /** A file that has its content on the local disk, or none if that is null. */
  static ScaleNode file(Path content, long length, long time) {
    return new ScaleNode(null, content, length, time);
  }

  @Override
  public boolean isDirectory() {
    return children != null;
  }

  /** The entries of a directory but for the job's files, to look at and to change. */
  @Override
  public NavigableMap<String, ScaleNode> children() {
    return children;
  }

  Path content() {
    return content;
  }

  long length() {
    return length;
  }

  long time() {
    return time;
  }

  /** All files of a partition are written here. */
  void write(int partition, int count) {
    written = partition;
    files = count;
  }

  boolean hasWritten(int partition) {
    return written == partition;
  }

  boolean hasRenamed(int partition) {
    return renamed == partition;
  }

  /** The partition whose files are here, -1 if there are none. */
  int partition() {
    return files == 0 ? NONE : Math.max(written, renamed);
  }

  /** One of the files that were written here goes to {@code to}; says whether that may take it. */
  boolean moveTo(ScaleNode to) {
    if (!to.take(written)) {
      return false;
    }
    files--;
    return true;
  }

  /** One of a partition's files becomes visible here; says whether this may take it. */
  boolean take(int partition) {
    if ((renamed != NONE && renamed != partition) || written != NONE) {
      return false;
    }
    renamed = partition;
    files++;
    return true;
  }

  /** How many of the job's files are here and below. */
  int filesBelow() {
    int below = files;
    if (children != null) {
      for (ScaleNode child : children.values()) {
        below += child.filesBelow();
      }
    }
    return below;
  }
}
