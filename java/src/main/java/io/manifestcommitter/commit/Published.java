package io.manifestcommitter.commit;

import io.manifestcommitter.manifest.FileEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Which files a commit has made, or may have made, visible. Safe for use by many threads. */
final class Published {
  private final Set<FileEntry> begun = ConcurrentHashMap.newKeySet();
  private final Set<FileEntry> done = ConcurrentHashMap.newKeySet();

  /** A rename is about to be asked for: from here on the file may be at either end. */
  void begin(FileEntry file) {
    begun.add(file);
  }

  /** The rename is proven. */
  void done(FileEntry file) {
    done.add(file);
    begun.remove(file);
  }

  /** Files that are at their destination. */
  List<FileEntry> published() {
    return new ArrayList<>(done);
  }

  /** Files that may be at either end. */
  List<FileEntry> uncertain() {
    return new ArrayList<>(begun);
  }
}
