// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.manifestcommitter.emulator.BucketListing.BucketOrder;
import io.manifestcommitter.emulator.BucketListing.BucketPage;
import io.manifestcommitter.emulator.GcsFolders.GcsOperations;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A strongly consistent namespace of objects. Each call is atomic. In a flat one directories are
 * nothing but names that end in a slash; a hierarchical one has folders beside the objects.
 */
final class GcsBucket {
  private static final int LONGEST_NAME = 1024;

  private final String name;
  private final NavigableMap<String, GcsObject> objects = new TreeMap<>(new BucketOrder());
  private final boolean hierarchical;
  private final GcsFolders folders;
  private final GcsOperations operations;

  /** In microseconds since 1970, as far as they go up. */
  private long lastGeneration;

  GcsBucket(String name, boolean hierarchical) {
    this.name = name;
    this.hierarchical = hierarchical;
    this.folders = new GcsFolders(name);
    this.operations = new GcsOperations(name);
  }

  String name() {
    return name;
  }

  boolean isHierarchical() {
    return hierarchical;
  }

  /**
   * Asks, or changes, the folders and their operations.
   *
   * @throws GcsException as {@code action} does; 400 in a flat bucket
   */
  synchronized <T> T onFolders(FolderAction<T> action) throws GcsException {
    if (!hierarchical) {
      throw GcsException.invalid("The bucket " + name + " has no hierarchical namespace");
    }
    return action.apply(folders, operations);
  }

  /** Something that is done with the folders. */
  interface FolderAction<T> {
    T apply(GcsFolders folders, GcsOperations operations) throws GcsException;
  }

  /** Whether no object is below a folder. */
  synchronized boolean isEmpty(String folder) {
    String first = objects.ceilingKey(folder);
    return first == null || !first.startsWith(folder);
  }

  /** Whether no object is below a folder but the one that stands for it. */
  synchronized boolean holdsOnlyItself(String folder) {
    String next = objects.higherKey(folder);
    return next == null || !next.startsWith(folder);
  }

  /**
   * Gives a folder, all that are in it and all objects below another name. Objects get new
   * generations: whether they do at the service nobody has told.
   */
  synchronized void renameFolder(String source, String destination) {
    folders.rename(source, destination);
    for (GcsObject object : List.copyOf(objects.tailMap(source, true).values())) {
      if (object.name().startsWith(source)) {
        objects.remove(object.name());
        String newName = destination + object.name().substring(source.length());
        put(object.movedTo(newName, nextGeneration()));
      }
    }
  }

  /** All names, each with a leading slash, and the sizes in bytes. */
  synchronized Map<String, Long> tree() {
    Map<String, Long> tree = new TreeMap<>();
    folders.names().forEach(folder -> tree.put("/" + folder, 0L));
    objects.forEach((object, live) -> tree.put("/" + object, (long) live.bytes().length));
    return tree;
  }

  /**
   * What has the name.
   *
   * @throws GcsException 404 if nothing has it, 412
   */
  synchronized GcsObject read(String object, GcsConditions conditions) throws GcsException {
    GcsObject live = objects.get(object);
    if (live == null) {
      throw GcsException.noObject(name, object);
    }
    conditions.check(name, live);
    return live;
  }

  synchronized BucketPage<GcsObject> list(GcsListing listing) {
    return listing.page(objects, folders.names());
  }

  /**
   * Whether a write to the name would pass now.
   *
   * @throws GcsException 412 if not, 429 while its folder is renamed, 400 if no object can have it
   */
  synchronized void checkWrite(String object, GcsConditions conditions) throws GcsException {
    int length = object.getBytes(StandardCharsets.UTF_8).length;
    if (length == 0 || length > LONGEST_NAME || object.matches("\\.\\.?|(?s).*[\r\n].*")) {
      throw GcsException.invalid("No object can have this name: '" + object + "'");
    }
    operations.checkUnlocked(object);
    conditions.checkWrite(name, Optional.ofNullable(objects.get(object)));
  }

  /**
   * Makes a new generation of the object, and the object if need be.
   *
   * @throws GcsException as {@link #checkWrite}
   */
  synchronized GcsObject write(
      String object, byte[] content, ObjectNode metadata, GcsConditions conditions)
      throws GcsException {
    checkWrite(object, conditions);
    return put(new GcsObject(name, object, content, metadata, nextGeneration()));
  }

  /**
   * Gives an object another name, in one step: content and metadata stay, the generation is a new
   * one, and so are its times. Replaces what has that name unless the conditions forbid it.
   *
   * @throws GcsException 404 if the source is missing, 412, 429, 400 if both names are the same
   */
  synchronized GcsObject move(
      String source,
      GcsConditions sourceConditions,
      String destination,
      GcsConditions destinationConditions)
      throws GcsException {
    if (source.equals(destination)) {
      throw GcsException.invalid("Source and destination of a move must differ: " + source);
    }
    operations.checkUnlocked(source);
    GcsObject moved = read(source, sourceConditions);
    checkWrite(destination, destinationConditions);
    objects.remove(source);
    return put(moved.movedTo(destination, nextGeneration()));
  }

  /**
   * Removes an object.
   *
   * @throws GcsException 404 if nothing has the name, 412, 429
   */
  synchronized void delete(String object, GcsConditions conditions) throws GcsException {
    operations.checkUnlocked(object);
    read(object, conditions);
    objects.remove(object);
  }

  private GcsObject put(GcsObject object) {
    objects.put(object.name(), object);
    if (hierarchical) {
      folders.makeFor(object.name());
    }
    return object;
  }

  private long nextGeneration() {
    lastGeneration = Math.max(lastGeneration + 1, Instant.now().toEpochMilli() * 1000);
    return lastGeneration;
  }
}
