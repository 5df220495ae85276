// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import io.manifestcommitter.store.StoreEntry;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;

/**
 * Files that stood at a plan's destinations before its commit began: by them a copy that a rename
 * left there is told from what was there before. Noted only where a rename may be a copy.
 */
public final class Occupants {
  /** All destinations were free: their names hold the job's id, or their store has no copies. */
  public static final Occupants NONE = new Occupants(Map.of(), true);

  /** Nobody knows any more. */
  public static final Occupants UNKNOWN = new Occupants(Map.of(), false);

  private final Map<Path, StoreEntry> files;
  private final boolean isKnown;

  private Occupants(Map<Path, StoreEntry> files, boolean isKnown) {
    this.files = files;
    this.isKnown = isKnown;
  }

  /** These files, as they were then. */
  public static Occupants of(Collection<StoreEntry> files) {
    Map<Path, StoreEntry> byPath = new HashMap<>();
    files.forEach(file -> byPath.put(file.path(), file));
    return new Occupants(byPath, true);
  }

  /** As they were then. */
  public Collection<StoreEntry> files() {
    return List.copyOf(files.values());
  }

  /** Whether nothing stood there. */
  public boolean wasFree(Path destination) {
    return isKnown && !files.containsKey(destination);
  }

  /** Whether what stands there may be what stood there then. */
  public boolean mayBe(StoreEntry now) {
    StoreEntry then = files.get(now.path());
    return !isKnown || (then != null && now.isUntouchedSince(then));
  }
}
