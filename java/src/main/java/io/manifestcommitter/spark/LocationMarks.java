// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.PathText.PlaceText;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StorePaths;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.store.UnsupportedStoreException;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers, in the table's staging directory, the custom locations where attempts made a staging
 * directory of this job. Messages tell only of attempts that committed; what a failed or killed one
 * left at a location is found by its mark. One small file for each attempt and location, written
 * before the attempt's first file there: its path as {@link PlaceText} has it. The name begins with
 * a hash of that, so that of the marks of one location one is read, and none of a location that is
 * known.
 */
final class LocationMarks {
  private static final Logger LOG = LoggerFactory.getLogger(LocationMarks.class);
  private static final int MOST_BYTES = 1 << 16;
  private static final int KEY_LENGTH = key("").length();

  private final Store store;
  private final StagingRoot staging;
  private final PlaceText texts;
  private Optional<Set<Path>> seen = Optional.empty();

  LocationMarks(Store store, StagingRoot staging) {
    this.store = store;
    this.staging = staging;
    this.texts = new PlaceText(staging.directory(), store::named);
  }

  /**
   * The location by the name of its store, which is opened. Spark completes a location without a
   * host by the one of the table, though the location may be on another store.
   *
   * @throws IOException if there is no such place, or it holds the table; naming both
   */
  static Path resolve(Stores stores, Path named, Path table) throws IOException {
    Path location;
    try {
      location = stores.resolve(named);
    } catch (UnsupportedStoreException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      URI uri = named.toUri();
      boolean isBorrowed =
          uri.getAuthority() != null && uri.getAuthority().equals(table.toUri().getAuthority());
      throw new IOException(
          "The partition location "
              + (isBorrowed ? new Path(uri.getScheme(), null, uri.getPath()) : named)
              + " of the table "
              + table
              + " cannot be opened"
              + (isBorrowed
                  ? ": it is on another store and has no host, so Spark takes it for " + named
                  : "")
              + ". Nothing was written there. Set the partition's location to a directory on the"
              + " table's store, or to the full URI of another store with its host. ("
              + e
              + ")",
          e);
    }
    check(location, table);
    return location;
  }

  /**
   * Refuses a location that holds the table: replacing such a partition would replace the table.
   *
   * @throws IOException naming both
   */
  static void check(Path location, Path table) throws IOException {
    if (StorePaths.isSameOrBelow(location, table)) {
      throw new IOException(
          "The partition location "
              + location
              + " holds the table "
              + table
              + " itself. Nothing was written: give the partition a directory of its own.");
    }
  }

  /**
   * Marks a location. One file more, whoever else marks it: no two writers meet at one name.
   *
   * @return the mark
   */
  Path write(Path location) throws IOException {
    String text = texts.write(location);
    Path mark = new Path(staging.locations(), key(text) + "-" + UUID.randomUUID());
    byte[] content = text.getBytes(StandardCharsets.UTF_8);
    store.write(mark, out -> out.write(content));
    return mark;
  }

  /** What the names of all marks of one location begin with. */
  static String key(String text) {
    return UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8)).toString();
  }

  /**
   * All locations marked, and those that are known. One request, and one for each location that is
   * marked and not known, in parallel.
   */
  Set<Path> find(Collection<Path> known, Workers workers) throws IOException {
    Map<String, List<Path>> marks = new HashMap<>();
    store.listIfThere(
        staging.locations(),
        entry -> {
          if (!entry.isDirectory() && entry.name().length() >= KEY_LENGTH) {
            marks
                .computeIfAbsent(entry.name().substring(0, KEY_LENGTH), key -> new ArrayList<>())
                .add(entry.path());
          }
        });
    Set<Path> locations = new TreeSet<>(known);
    known.forEach(location -> marks.remove(key(texts.write(location))));
    workers
        .map(
            marks.entrySet(),
            location ->
                location.getValue().stream()
                    .flatMap(mark -> read(location.getKey(), mark).stream())
                    .findFirst())
        .forEach(location -> location.ifPresent(locations::add));
    locations.removeIf(location -> StorePaths.isSameOrBelow(location, staging.directory()));
    return locations;
  }

  /** Finds them for whoever asks for what was {@link #seen}. If that fails, nothing was. */
  void lookAhead(Collection<Path> known, Workers workers) {
    try {
      seen = Optional.of(find(known, workers));
    } catch (IOException e) {
      LOG.debug("The marks of custom locations in {} cannot be listed", staging.root(), e);
    }
  }

  /** What {@link #lookAhead} found. */
  Optional<Set<Path>> seen() {
    return seen;
  }

  /**
   * What a mark tells, empty if nothing: one that was cut short belongs to an attempt that died
   * before it wrote anything at the location.
   */
  private Optional<Path> read(String key, Path mark) {
    try {
      byte[] content = Retries.fewFor(() -> store.read(mark, MOST_BYTES));
      String text = new String(content, StandardCharsets.UTF_8);
      Path location = texts.read(text);
      if (key.equals(key(text)) && location.toUri().getScheme() != null) {
        return Optional.of(location);
      }
      LOG.warn("The mark {} of a custom location names {}: it is ignored", mark, location);
    } catch (IOException | IllegalArgumentException e) {
      LOG.warn("The mark {} of a custom location cannot be read: it is ignored", mark, e);
    }
    return Optional.empty();
  }
}
