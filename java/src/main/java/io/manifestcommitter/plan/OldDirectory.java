package io.manifestcommitter.plan;

import io.manifestcommitter.store.StoreEntry;
import java.util.List;
import java.util.Objects;
import org.apache.hadoop.fs.Path;

/** One directory whose files an overwrite replaces, as it stood when the plan was made. */
public final class OldDirectory {
  private final Path path;
  private final List<StoreEntry> files;

  /** A directory and the files directly in it. */
  public OldDirectory(Path path, List<StoreEntry> files) {
    this.path = Objects.requireNonNull(path);
    this.files = List.copyOf(files);
  }

  /** The directory. */
  public Path path() {
    return path;
  }

  /** The files directly in it, with their identity. */
  public List<StoreEntry> files() {
    return files;
  }
}
