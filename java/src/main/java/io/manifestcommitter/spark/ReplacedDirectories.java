// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.plan.OldDirectory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/** The old data that a job replaces, in all of its trees, by directory. Immutable. */
final class ReplacedDirectories {
  private final Map<Path, OldDirectory> byPath = new HashMap<>();
  private final Map<Path, List<Path>> byParent = new HashMap<>();
  private final Set<Path> aboveStaging = new HashSet<>();
  private final Set<Path> aboveEncrypted = new HashSet<>();

  /** What was found; a directory's children are in the order in which they come. */
  ReplacedDirectories(Collection<OldDirectory> replaced) {
    for (OldDirectory directory : replaced) {
      Path path = directory.path();
      byPath.put(path, directory);
      byParent.computeIfAbsent(path.getParent(), parent -> new ArrayList<>()).add(path);
      if (directory.holdsStaging()) {
        addUpwards(path, aboveStaging);
      }
      if (directory.entry().filter(entry -> entry.rights().isEncrypted()).isPresent()) {
        addUpwards(path, aboveEncrypted);
      }
    }
  }

  private static void addUpwards(Path directory, Set<Path> paths) {
    for (Path path = directory; path != null && paths.add(path); path = path.getParent()) {}
  }

  /** A directory of old data; empty if it is none. */
  Optional<OldDirectory> find(Path directory) {
    return Optional.ofNullable(byPath.get(directory));
  }

  /** The directories of old data directly in another one. */
  List<Path> children(Path directory) {
    return byParent.getOrDefault(directory, List.of());
  }

  /** Whether a directory, or one below it, holds staging directories of jobs. */
  boolean holdStaging(Path directory) {
    return aboveStaging.contains(directory);
  }

  /** Whether a directory, or one below it, is encrypted. */
  boolean holdEncrypted(Path directory) {
    return aboveEncrypted.contains(directory);
  }
}
