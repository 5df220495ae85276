// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a path of a tree leads to. Checksum and size are what the client said of the object: nothing
 * compares them with what is at the address.
 *
 * @param address the whole URI of the object
 * @param modified seconds since the epoch
 */
record LakefsEntry(
    String address,
    String checksum,
    long size,
    long modified,
    Map<String, String> metadata,
    String contentType) {
  /** Keeps the metadata in one order, so that equal entries have equal texts. */
  LakefsEntry {
    metadata = Collections.unmodifiableSortedMap(new TreeMap<>(metadata));
  }

  /**
   * What makes two entries the same to a commit, a difference and a merge. The address is no part
   * of it, nor the time: other bytes under the same checksum are no change.
   */
  List<Object> identity() {
    return List.of(size, checksum, metadata, contentType);
  }
}
