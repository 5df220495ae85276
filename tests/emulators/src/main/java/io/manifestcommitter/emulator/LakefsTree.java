// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.BucketListing.BucketOrder;
import io.manifestcommitter.emulator.S3Body.S3Hashes;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/** The entries of a commit by their paths: a value. Paths are in the order of their UTF-8 bytes. */
final class LakefsTree {
  static final LakefsTree EMPTY = new LakefsTree(new TreeMap<>(new BucketOrder()));

  private final NavigableMap<String, LakefsEntry> entries;

  private LakefsTree(NavigableMap<String, LakefsEntry> entries) {
    this.entries = Collections.unmodifiableNavigableMap(entries);
  }

  /** The same for two trees whose paths and identities are: lakeFS calls it a meta-range. */
  String id() {
    StringBuilder content = new StringBuilder();
    entries.forEach((path, entry) -> content.append(path).append('\0').append(entry.identity()));
    return S3Hashes.hex(S3Hashes.sha256(content.toString().getBytes(StandardCharsets.UTF_8)));
  }

  NavigableMap<String, LakefsEntry> entries() {
    return entries;
  }

  /** This tree with other entries at some paths; empty where a path goes. */
  LakefsTree with(Map<String, Optional<LakefsEntry>> staged) {
    if (staged.isEmpty()) {
      return this;
    }
    NavigableMap<String, LakefsEntry> changed = new TreeMap<>(entries);
    staged.forEach(
        (path, entry) ->
            entry.ifPresentOrElse(put -> changed.put(path, put), () -> changed.remove(path)));
    return new LakefsTree(changed);
  }

  /** What has to be done to this tree to get the other: {@code two_dot}. */
  NavigableMap<String, Change> changesTo(LakefsTree other) {
    NavigableMap<String, Change> changes = new TreeMap<>(new BucketOrder());
    other.entries.forEach(
        (path, entry) -> {
          LakefsEntry mine = entries.get(path);
          if (!same(mine, entry)) {
            changes.put(path, new Change(mine == null ? "added" : "changed", Optional.of(entry)));
          }
        });
    entries.forEach(
        (path, entry) -> {
          if (!other.entries.containsKey(path)) {
            changes.put(path, new Change("removed", Optional.empty()));
          }
        });
    return changes;
  }

  /**
   * What a merge of another tree into this one does, path by path: {@code three_dot}. A path that
   * both changed alike, or both removed, is in neither.
   */
  NavigableMap<String, Change> changesBy(LakefsTree source, LakefsTree base) {
    NavigableMap<String, Change> changes = changesTo(source);
    changes.keySet().removeIf(path -> same(source.entries.get(path), base.entries.get(path)));
    changes.replaceAll(
        (path, change) ->
            same(entries.get(path), base.entries.get(path))
                ? change
                : new Change(Change.CONFLICT, change.entry()));
    return changes;
  }

  private static boolean same(LakefsEntry left, LakefsEntry right) {
    return Objects.equals(
        left == null ? null : left.identity(), right == null ? null : right.identity());
  }

  /**
   * A difference at one path.
   *
   * @param type as the API calls it
   * @param entry what is there afterwards
   */
  record Change(String type, Optional<LakefsEntry> entry) {
    static final String CONFLICT = "conflict";
  }
}
