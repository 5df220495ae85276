// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/** A file or a directory. Guarded by its tree, as is everything below it. */
final class AbfsNode {
  private static final AtomicLong VERSIONS = new AtomicLong(System.currentTimeMillis() << 12);

  private final boolean directory;
  private final NavigableMap<String, AbfsNode> children = new TreeMap<>();
  private final Instant created = Instant.now();
  private final NavigableMap<Long, byte[]> uncommitted = new TreeMap<>();
  private byte[] content = new byte[0];
  private String etag = nextEtag();
  private Instant modified = created;
  private AbfsAccess access;
  private String properties;
  private String transaction;

  AbfsNode(boolean directory, AbfsAccess access, String properties, String transaction) {
    this.directory = directory;
    this.access = access;
    this.properties = properties;
    this.transaction = transaction;
  }

  /** A directory that nobody asked for by name. */
  static AbfsNode directory(AbfsAccess access) {
    return new AbfsNode(true, access, "", "");
  }

  boolean directory() {
    return directory;
  }

  String type() {
    return directory ? "directory" : "file";
  }

  NavigableMap<String, AbfsNode> children() {
    return children;
  }

  byte[] content() {
    return content;
  }

  /** Without quotation marks. */
  String etag() {
    return etag;
  }

  Instant created() {
    return created;
  }

  Instant modified() {
    return modified;
  }

  AbfsAccess access() {
    return access;
  }

  void access(AbfsAccess newAccess) {
    access = newAccess;
  }

  String properties() {
    return properties;
  }

  void properties(String newProperties) {
    properties = newProperties;
    touch();
  }

  /** The client's id of the request that made or renamed it; empty where it sent none. */
  String transaction() {
    return transaction;
  }

  void transaction(String id) {
    transaction = id;
  }

  /** Keeps a block until a flush reaches it. A block that is sent again replaces the first one. */
  void append(long position, byte[] block) {
    if (position < content.length) {
      throw AbfsFailure.invalidFlushPosition();
    }
    if (block.length > 0) {
      uncommitted.put(position, block);
    }
  }

  /**
   * Makes the blocks up to a position the file's content.
   *
   * @throws AbfsFailure where they leave a gap or do not end there
   */
  void flush(long length, boolean retainUncommitted) {
    ByteArrayOutputStream joined = new ByteArrayOutputStream();
    long end = content.length;
    for (Map.Entry<Long, byte[]> block : uncommitted.headMap(length, false).entrySet()) {
      if (block.getKey() != end) {
        throw AbfsFailure.invalidFlushPosition();
      }
      joined.writeBytes(block.getValue());
      end += block.getValue().length;
    }
    if (end != length) {
      throw AbfsFailure.invalidFlushPosition();
    }
    if (joined.size() > 0) {
      byte[] whole = new byte[content.length + joined.size()];
      System.arraycopy(content, 0, whole, 0, content.length);
      System.arraycopy(joined.toByteArray(), 0, whole, content.length, joined.size());
      content = whole;
    }
    if (retainUncommitted) {
      uncommitted.headMap(length, false).clear();
    } else {
      uncommitted.clear();
    }
    touch();
  }

  /** As if it, and all below it, were other files. */
  void changeEtags() {
    etag = nextEtag();
    children.values().forEach(AbfsNode::changeEtags);
  }

  private void touch() {
    etag = nextEtag();
    modified = Instant.now();
  }

  private static String nextEtag() {
    return String.format("0x8D%013X", VERSIONS.incrementAndGet());
  }
}
