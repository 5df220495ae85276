package io.manifestcommitter.spark;

import io.manifestcommitter.StagingRoot;
import io.manifestcommitter.manifest.PathText;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers, in the table's staging root, the custom locations where attempts made a staging root
 * of this job. Messages tell only of attempts that committed; what a failed or killed one left at a
 * location is found by its mark. One small file for each attempt and location, written before the
 * attempt's first file there.
 */
final class LocationMarks {
  private static final Logger LOG = LoggerFactory.getLogger(LocationMarks.class);
  private static final int MOST_BYTES = 1 << 16;

  private final Store store;
  private final StagingRoot staging;

  LocationMarks(Store store, StagingRoot staging) {
    this.store = store;
    this.staging = staging;
  }

  /** Marks a location. */
  void write(Path location) throws IOException {
    Path mark = new Path(staging.locations(), UUID.randomUUID().toString());
    byte[] content = location.toUri().toString().getBytes(StandardCharsets.UTF_8);
    store.write(mark, out -> out.write(content));
  }

  /** All locations marked. One request where there are none. */
  Set<Path> read() throws IOException {
    List<Path> marks = new ArrayList<>();
    try {
      store.list(
          staging.locations(),
          entry -> {
            if (!entry.isDirectory()) {
              marks.add(entry.path());
            }
          });
    } catch (FileNotFoundException e) {
      return Set.of();
    }
    Set<Path> locations = new TreeSet<>();
    for (Path mark : marks) {
      Path location = location(mark);
      if (location != null && !StorePaths.isSameOrBelow(location, staging.directory())) {
        locations.add(location);
      }
    }
    return locations;
  }

  /**
   * What a mark tells, null if nothing: one that was cut short belongs to an attempt that died
   * before it wrote anything at the location.
   */
  private Path location(Path mark) {
    try {
      Path location =
          PathText.read(new String(store.read(mark, MOST_BYTES), StandardCharsets.UTF_8));
      if (location.toUri().getScheme() != null) {
        return location;
      }
      LOG.warn("The mark {} of a custom location names {}: it is ignored", mark, location);
    } catch (IOException | IllegalArgumentException e) {
      LOG.warn("The mark {} of a custom location cannot be read: it is ignored", mark, e);
    }
    return null;
  }
}
