// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** A directory of a store in memory. */
public final class MemoryFiles implements DirectFiles {
  private final MemoryStoreState state;
  private final String prefix;

  /** What lies below {@code root} in the store. */
  public MemoryFiles(MemoryStoreState state, String root) {
    this.state = state;
    this.prefix = root + "/";
  }

  @Override
  public NavigableMap<String, String> files() {
    NavigableMap<String, String> files = new TreeMap<>();
    state
        .files()
        .forEach(
            (path, content) -> {
              if (path.startsWith(prefix)) {
                files.put(path.substring(prefix.length()), content);
              }
            });
    return files;
  }

  @Override
  public NavigableSet<String> directories() {
    NavigableSet<String> directories = new TreeSet<>();
    for (String path : state.directories()) {
      if (path.startsWith(prefix)) {
        directories.add(path.substring(prefix.length()));
      }
    }
    return directories;
  }

  @Override
  public byte[] bytes(String relative) {
    return state.bytes(prefix + relative);
  }

  @Override
  public void write(String relative, byte[] content) {
    state.write(prefix + relative, content);
  }

  @Override
  public void mkdirs(String relative) {
    state.mkdirs(prefix + relative);
  }

  @Override
  public void delete(String relative) {
    state.remove(prefix + relative);
  }
}
