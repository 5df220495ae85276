// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.LakefsTree.Change;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * How a merge is asked for.
 *
 * @param strategy "source-wins", "dest-wins", or empty: conflicts are refused
 * @param squash the source is no parent of the merge, so it can be merged again
 * @param evenIfEmpty also where the source has no changes
 */
record LakefsMerge(
    String message,
    Map<String, String> metadata,
    String strategy,
    boolean squash,
    boolean evenIfEmpty) {
  private static final Map<String, String> STRATEGIES =
      Map.of("", "default", "source-wins", "source-wins", "dest-wins", "dest-wins");

  /** Refuses strategies that there are not: 400. */
  void check() throws LakefsException {
    if (!STRATEGIES.containsKey(strategy)) {
      throw LakefsException.invalid("invalid merge strategy: " + strategy);
    }
  }

  /** The metadata of the commit that this merge makes. */
  Map<String, String> allMetadata() {
    Map<String, String> all = new TreeMap<>(metadata);
    all.put(".lakefs.merge.strategy", STRATEGIES.get(strategy));
    return all;
  }

  /**
   * What the destination gets.
   *
   * @throws LakefsException 409 for a conflict that no strategy decides
   */
  Map<String, Optional<LakefsEntry>> resolve(
      LakefsTree destination, LakefsTree source, LakefsTree base) throws LakefsException {
    Map<String, Optional<LakefsEntry>> resolved = new TreeMap<>();
    for (Map.Entry<String, Change> each : destination.changesBy(source, base).entrySet()) {
      boolean isConflict = each.getValue().type().equals(Change.CONFLICT);
      if (isConflict && strategy.isEmpty()) {
        throw new LakefsException(409, "conflict found");
      }
      if (!isConflict || strategy.equals("source-wins")) {
        resolved.put(each.getKey(), each.getValue().entry());
      }
    }
    return resolved;
  }
}
