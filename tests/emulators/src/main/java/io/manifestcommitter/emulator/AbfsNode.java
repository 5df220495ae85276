// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
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
  private final int mode;
  private String transaction;

  AbfsNode(boolean directory, int mode, String transaction) {
    this.directory = directory;
    this.mode = mode;
    this.transaction = transaction;
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

  /** {@code rwxr-x---}. */
  String permissions() {
    StringBuilder text = new StringBuilder();
    for (int bit = 8; bit >= 0; bit--) {
      text.append((mode >> bit & 1) == 0 ? '-' : "rwx".charAt(2 - bit % 3));
    }
    return text.toString();
  }

  /** Reads {@code 0750} or {@code rwxr-x---}. */
  static int parseMode(String text) {
    if (text.matches("[0-7]{3,5}")) {
      return Integer.parseInt(text, 8);
    }
    if (text.matches("([r-][w-][x-]){3}")) {
      return Integer.parseInt(text.replace('-', '0').replaceAll("[rwx]", "1"), 2);
    }
    throw new AbfsFailure(400, "InvalidHeaderValue", "Not permissions, octal or symbolic: " + text);
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

  /** The conditions of a request on the etag of one path. */
  record AbfsConditions(Optional<String> match, Optional<String> noneMatch) {
    private static final String ANY = "*";

    /** {@code If-Match} and {@code If-None-Match}; of a rename, on its destination. */
    static AbfsConditions of(Call call) {
      return new AbfsConditions(
          call.header("If-Match").map(AbfsConditions::unquoted),
          call.header("If-None-Match").map(AbfsConditions::unquoted));
    }

    /** Those on the source of a rename. */
    static AbfsConditions ofSource(Call call) {
      return new AbfsConditions(
          call.header("x-ms-source-if-match").map(AbfsConditions::unquoted),
          call.header("x-ms-source-if-none-match").map(AbfsConditions::unquoted));
    }

    /** Whether nothing may exist there. */
    boolean ifMissing() {
      return noneMatch.isPresent() && noneMatch.get().equals(ANY);
    }

    /** Whether they hold of what is there. */
    boolean met(Optional<AbfsNode> node) {
      return match.map(etag -> matches(etag, node)).orElse(true)
          && !noneMatch.map(etag -> matches(etag, node)).orElse(false);
    }

    private static boolean matches(String etag, Optional<AbfsNode> node) {
      return node.isPresent() && (etag.equals(ANY) || etag.equals(node.get().etag()));
    }

    private static String unquoted(String etag) {
      return etag.replace("\"", "");
    }
  }

  /** An error of ADLS Gen2, as its REST reference names it. */
  static final class AbfsFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;
    private final String existing;

    private AbfsFailure(int status, String code, String message, String existing) {
      super(message, null, false, false);
      this.status = status;
      this.code = code;
      this.existing = existing;
    }

    AbfsFailure(int status, String code, String message) {
      this(status, code, message, "");
    }

    int status() {
      return status;
    }

    String code() {
      return code;
    }

    /** "file" or "directory" where such a one is in the way; else empty. */
    String existing() {
      return existing;
    }

    static AbfsFailure pathNotFound() {
      return new AbfsFailure(404, "PathNotFound", "The specified path does not exist.");
    }

    static AbfsFailure alreadyExists(AbfsNode node) {
      return new AbfsFailure(
          409, "PathAlreadyExists", "The specified path already exists.", node.type());
    }

    /** A file where a directory has to be, or the other way round. */
    static AbfsFailure conflict(AbfsNode node) {
      return new AbfsFailure(
          409,
          "PathConflict",
          "The specified path, or an element of the path, exists and its resource type is invalid"
              + " for this operation.",
          node.type());
    }

    static AbfsFailure conditionNotMet() {
      return new AbfsFailure(
          412, "ConditionNotMet", "The condition specified using HTTP headers is not met.");
    }

    static AbfsFailure invalidFlushPosition() {
      return new AbfsFailure(
          400,
          "InvalidFlushPosition",
          "The uploaded data is not contiguous or the position is not the length of the file after"
              + " it.");
    }
  }
}
