// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.Objects;

/** What a request asks for, in the protocol's own terms: what faults and counts are keyed on. */
final class Operation {
  private final String name;
  private final String path;

  /**
   * An operation.
   *
   * @param name lower case: "rename", "list", "move"
   * @param path decoded, from the root of the container or bucket, with a leading slash; of a
   *     rename or move the destination
   */
  Operation(String name, String path) {
    this.name = Objects.requireNonNull(name);
    this.path = Objects.requireNonNull(path);
  }

  String name() {
    return name;
  }

  String path() {
    return path;
  }

  @Override
  public String toString() {
    return name + " " + path;
  }
}
