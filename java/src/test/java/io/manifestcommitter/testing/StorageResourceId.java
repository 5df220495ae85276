// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

/** The name of an object, as Google's connector has it, and the generation that it must have. */
public final class StorageResourceId {
  static final long NONE = 0;
  static final long ANY = -1;

  final String name;
  final long generation;

  /** That of an object in the bucket of a filesystem. */
  public StorageResourceId(String bucket, String name, long generation) {
    this.name = name;
    this.generation = generation;
  }

  boolean isFolder() {
    return name.endsWith("/");
  }

  /** Where the store keeps it. */
  String key() {
    return "/" + (isFolder() ? name.substring(0, name.length() - 1) : name);
  }
}
