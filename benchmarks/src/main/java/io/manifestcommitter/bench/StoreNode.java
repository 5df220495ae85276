// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * A file or directory of the simulated store. What a file contains lies outside the heap, so that
 * manifests in the store are not taken for memory of the committer.
 */
final class StoreNode implements NodeTree.Node<StoreNode> {
  private final NavigableMap<String, StoreNode> children;
  private final ByteBuffer content;
  private final long length;
  private final long time;
  private final long version;

  private StoreNode(
      NavigableMap<String, StoreNode> children,
      ByteBuffer content,
      long length,
      long time,
      long version) {
    this.children = children;
    this.content = content;
    this.length = length;
    this.time = time;
    this.version = version;
  }

  static StoreNode directory(long time) {
    return new StoreNode(new TreeMap<>(), null, 0, time, 0);
  }

  /** A file that has a length and no content: output of a task, which no committer reads. */
  static StoreNode data(long length, long time, long version) {
    return new StoreNode(null, null, length, time, version);
  }

  static StoreNode file(byte[] bytes, long time, long version) {
    ByteBuffer content = ByteBuffer.allocateDirect(bytes.length);
    content.put(bytes).flip();
    return new StoreNode(null, content, bytes.length, time, version);
  }

  @Override
  public boolean isDirectory() {
    return children != null;
  }

  /** The entries of a directory, to look at and to change. */
  @Override
  public NavigableMap<String, StoreNode> children() {
    return children;
  }

  /** The bytes of a file; empty for one that has only a length. */
  byte[] content() {
    if (content == null) {
      return new byte[0];
    }
    byte[] bytes = new byte[content.limit()];
    content.duplicate().get(bytes);
    return bytes;
  }

  long length() {
    return length;
  }

  long time() {
    return time;
  }

  /** What is written to a path is never the same twice, and a rename keeps it. */
  String etag() {
    return "0x8D" + Long.toHexString(version).toUpperCase(Locale.ROOT);
  }
}
