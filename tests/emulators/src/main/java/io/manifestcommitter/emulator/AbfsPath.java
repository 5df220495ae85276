// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A path below the root of a filesystem, by its names. */
record AbfsPath(List<String> names) {
  static final AbfsPath ROOT = new AbfsPath(List.of());

  /** Reads a decoded path, with or without slashes around it. */
  static AbfsPath of(String text) {
    return new AbfsPath(Stream.of(text.split("/", -1)).filter(name -> !name.isEmpty()).toList());
  }

  boolean isRoot() {
    return names.isEmpty();
  }

  /** The last name. Not of the root. */
  String name() {
    return names.get(names.size() - 1);
  }

  AbfsPath parent() {
    return new AbfsPath(names.subList(0, names.size() - 1));
  }

  AbfsPath child(String name) {
    List<String> longer = new ArrayList<>(names);
    longer.add(name);
    return new AbfsPath(longer);
  }

  /** Whether the other one is this one or below it. */
  boolean contains(AbfsPath other) {
    return other.names.size() >= names.size() && other.names.subList(0, names.size()).equals(names);
  }

  /** As listings have it: without a leading slash. */
  String relative() {
    return String.join("/", names);
  }

  @Override
  public String toString() {
    return "/" + relative();
  }
}
