// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import java.util.Iterator;
import java.util.Objects;

/** Something with its position in a sequence. */
final class Numbered<T> {
  private final int number;
  private final T item;

  Numbered(int number, T item) {
    this.number = number;
    this.item = Objects.requireNonNull(item);
  }

  /** Items with their positions in {@code items}, read one by one. */
  static <T> Iterator<Numbered<T>> each(Iterable<T> items) {
    Iterator<T> entries = items.iterator();
    return new Iterator<Numbered<T>>() {
      private int next;

      @Override
      public boolean hasNext() {
        return entries.hasNext();
      }

      @Override
      public Numbered<T> next() {
        return new Numbered<>(next++, entries.next());
      }
    };
  }

  /** The position, from 0. */
  int number() {
    return number;
  }

  T item() {
    return item;
  }

  @Override
  public String toString() {
    return item.toString();
  }
}
