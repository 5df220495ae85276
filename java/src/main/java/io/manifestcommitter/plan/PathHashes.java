// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import java.net.URI;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * Remembers many paths in eight bytes each: what it does not know was never added; what it knows
 * has to be looked at exactly.
 */
final class PathHashes {
  private static final long START = 0xcbf29ce484222325L;
  private static final long PRIME = 0x100000001b3L;

  private long[] hashes = new long[1024];
  private Path lastDirectory;
  private long lastHash;
  private int count;
  private boolean sorted = true;

  /** A number that is the same for equal paths, and hardly ever for others (FNV-1a, 64 bits). */
  static long hash(Path path) {
    URI uri = path.toUri();
    return hash(hash(hash(START, uri.getScheme()), uri.getAuthority()), uri.getPath());
  }

  private static long hash(long before, String text) {
    long hash = before;
    for (int i = 0; text != null && i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * PRIME;
    }
    return hash;
  }

  /** The hash of a file in a directory. Neighbours are in the same one, mostly. */
  long hash(Path directory, String name) {
    if (!directory.equals(lastDirectory)) {
      lastDirectory = directory;
      lastHash = hash(directory);
      lastHash = directory.isRoot() ? lastHash : hash(lastHash, "/");
    }
    return hash(lastHash, name);
  }

  /** Adds a file in a directory. */
  void add(Path directory, String name) {
    if (count == hashes.length) {
      hashes = Arrays.copyOf(hashes, count + count / 2);
    }
    hashes[count++] = hash(directory, name);
    sorted = false;
  }

  /** Whether the path may have been added; false is certain. */
  boolean mayContain(Path path) {
    return contains(hash(path));
  }

  /** Whether the path of a file in a directory may have been added; false is certain. */
  boolean mayContain(Path directory, String name) {
    return contains(hash(directory, name));
  }

  private boolean contains(long hash) {
    sort();
    return Arrays.binarySearch(hashes, 0, count, hash) >= 0;
  }

  /** The hashes that were added more than once. */
  Set<Long> repeated() {
    sort();
    Set<Long> repeated = new HashSet<>();
    for (int i = 1; i < count; i++) {
      if (hashes[i] == hashes[i - 1]) {
        repeated.add(hashes[i]);
      }
    }
    return repeated;
  }

  private void sort() {
    if (!sorted) {
      Arrays.sort(hashes, 0, count);
      sorted = true;
    }
  }
}
