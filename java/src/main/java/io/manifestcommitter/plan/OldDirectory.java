// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.Rows;
import io.manifestcommitter.store.StoreEntry;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.Path;

/**
 * One directory whose files an overwrite replaces, as it stood when the plan was made.
 *
 * <p>The files are held until the job has ended, so in few bytes, as rows.
 */
public final class OldDirectory {
  /** The columns of texts. */
  private static final int NAMES = 0;

  private static final int ETAGS = 1;
  private static final int COLUMNS = 2;
  private static final int ROOM = 256;

  public final Path path;

  private final byte[] files;

  /** How many files there are. */
  public final int count;

  /**
   * Whether jobs keep their staging directories directly in it, which have to stay where they are.
   */
  public final boolean holdsStaging;

  /** The directory as the store shows it, if it was seen. */
  public final Optional<StoreEntry> entry;

  /** A directory and the files directly in it. */
  public OldDirectory(Path path, Iterable<StoreEntry> files) {
    this(path, files, false, Optional.empty());
  }

  /**
   * A directory and the files directly in it.
   *
   * @param holdsStaging whether jobs keep their staging directories directly in it
   * @param entry the directory as the store shows it, if it was seen
   */
  public OldDirectory(
      Path path, Iterable<StoreEntry> files, boolean holdsStaging, Optional<StoreEntry> entry) {
    this.path = Objects.requireNonNull(path);
    this.holdsStaging = holdsStaging;
    this.entry = entry;
    Rows.Writer rows = new Rows.Writer(COLUMNS, ROOM);
    int seen = 0;
    for (StoreEntry file : files) {
      rows.text(NAMES, file.name()).text(ETAGS, file.etag());
      rows.number(file.length()).number(file.modificationTime()).number(file.lastWritten());
      seen++;
    }
    this.files = rows.take();
    this.count = seen;
  }

  /** The files directly in it, with their identity; made anew whenever they are gone through. */
  public Iterable<StoreEntry> files() {
    return () -> {
      Rows.Reader rows = new Rows.Reader(COLUMNS, files);
      return IntStream.range(0, count).mapToObj(number -> next(rows)).iterator();
    };
  }

  /** The files directly in it by their names, to look for some of them. */
  public Map<String, StoreEntry> filesByName() {
    Map<String, StoreEntry> byName = new HashMap<>(2 * count);
    files().forEach(file -> byName.put(file.name(), file));
    return byName;
  }

  @Override
  public String toString() {
    return path.toString();
  }

  private StoreEntry next(Rows.Reader rows) {
    String name = rows.text(NAMES);
    String etag = rows.text(ETAGS);
    return StoreEntry.fileIn(path, name, new FileIdentity(rows.number(), etag, rows.number()))
        .lastWritten(rows.number());
  }
}
