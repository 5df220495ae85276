// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.Closeable;
import java.io.IOException;
import java.lang.reflect.Constructor;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * The listing of a directory by the iterator of hadoop-azure. It holds a dozen pages at most, which
 * a thread of the JVM's common pool fetches ahead. That thread waits for good for somebody to take
 * them, so {@link #close} takes what is left.
 */
final class PagesAhead implements RemoteIterator<FileStatus>, Closeable {
  private static final String ITERATOR =
      "org.apache.hadoop.fs.azurebfs.services.AbfsListStatusRemoteIterator";

  private final RemoteIterator<FileStatus> entries;

  /** Begins to list {@code directory}. */
  PagesAhead(FileSystem fs, Path directory) throws IOException {
    this.entries = fs.listStatusIterator(directory);
  }

  /**
   * Whether the iterator asks for pages only, as {@link FileSystem#listStatus} does: from Hadoop
   * 3.3.5 on. An older one looks at the directory first, whose status it is made with, and waits a
   * quarter of a second after the last page. Makes no request.
   */
  static boolean isAllThatIsAsked(FileSystem fs) {
    try {
      Class<?> iterator = Class.forName(ITERATOR, false, fs.getClass().getClassLoader());
      for (Constructor<?> constructor : iterator.getConstructors()) {
        if (constructor.getParameterTypes()[0] == Path.class) {
          return true;
        }
      }
    } catch (ClassNotFoundException e) {
      // A driver without this iterator.
    }
    return false;
  }

  @Override
  public boolean hasNext() throws IOException {
    return entries.hasNext();
  }

  @Override
  public FileStatus next() throws IOException {
    return entries.next();
  }

  @Override
  public void close() throws IOException {
    while (entries.hasNext()) {
      entries.next();
    }
  }
}
