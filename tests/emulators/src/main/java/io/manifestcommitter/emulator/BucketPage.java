// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One page of a listing. */
final class BucketPage<T> {
  private final Map<String, T> items = new LinkedHashMap<>();
  private final List<String> prefixes = new ArrayList<>();
  private Optional<String> token = Optional.empty();

  void add(String name, T item) {
    items.put(name, item);
  }

  void addPrefix(String prefix) {
    prefixes.add(prefix);
  }

  /** There is more. */
  void continueWith(String nextToken) {
    token = Optional.of(nextToken);
  }

  int size() {
    return items.size() + prefixes.size();
  }

  /** Objects by their names, in the order of the listing. */
  Map<String, T> items() {
    return Collections.unmodifiableMap(items);
  }

  /** Each with its delimiter. */
  List<String> prefixes() {
    return Collections.unmodifiableList(prefixes);
  }

  /** What the next page is asked for with; empty on the last. */
  Optional<String> token() {
    return token;
  }
}
