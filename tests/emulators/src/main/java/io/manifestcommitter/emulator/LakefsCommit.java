// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.S3Body.S3Hashes;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A commit: never changed, and there as long as its repository, whatever becomes of branches.
 *
 * @param parents the destination first, then the source of a merge
 * @param created seconds since the epoch
 * @param generation one more than the highest of its parents
 * @param metaRange the id of the tree
 */
record LakefsCommit(
    String id,
    List<String> parents,
    String message,
    Map<String, String> metadata,
    long created,
    int generation,
    String metaRange,
    LakefsTree tree) {
  /** The latest first. */
  static final Comparator<LakefsCommit> LATEST =
      Comparator.comparing(LakefsCommit::generation)
          .thenComparing(LakefsCommit::created)
          .reversed()
          .thenComparing(LakefsCommit::id);

  /** A commit on these parents; its id is a hash of all that it says. */
  static LakefsCommit on(
      List<LakefsCommit> parents,
      String message,
      Map<String, String> metadata,
      long created,
      LakefsTree tree) {
    int generation = parents.stream().mapToInt(LakefsCommit::generation).max().orElse(0) + 1;
    List<String> ids = parents.stream().map(LakefsCommit::id).toList();
    Map<String, String> sorted = Collections.unmodifiableSortedMap(new TreeMap<>(metadata));
    String metaRange = tree.id();
    String content = List.of(ids, message, sorted, created, metaRange).toString();
    String id = S3Hashes.hex(S3Hashes.sha256(content.getBytes(StandardCharsets.UTF_8)));
    return new LakefsCommit(id, ids, message, sorted, created, generation, metaRange, tree);
  }
}
