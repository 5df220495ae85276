package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntries;
import io.manifestcommitter.manifest.FileEntry;
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

  /** Files with their positions in {@code files}, read one by one. */
  static Iterator<Numbered<FileEntry>> each(FileEntries files) {
    Iterator<FileEntry> entries = files.iterator();
    return new Iterator<Numbered<FileEntry>>() {
      private int next;

      @Override
      public boolean hasNext() {
        return entries.hasNext();
      }

      @Override
      public Numbered<FileEntry> next() {
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
