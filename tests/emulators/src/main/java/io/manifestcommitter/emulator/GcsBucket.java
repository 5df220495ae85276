// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A strongly consistent namespace of objects. Each call is atomic: conditions are checked and the
 * change made under one lock. In a flat one directories are nothing but names that end in a slash;
 * a hierarchical one has folders beside the objects.
 */
final class GcsBucket {
  private static final int LONGEST_NAME = 1024;

  private final String name;
  private final AtomicLong generations;
  private final Instant created = Instant.now();
  private final NavigableMap<String, GcsObject> objects = new TreeMap<>(new BucketOrder());
  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private final boolean hierarchical;
  private final GcsFolders folders;
  private final GcsOperations operations;

  /**
   * An empty bucket.
   *
   * @param hierarchical whether it has folders
   * @param generations the last generation given to any object, in microseconds since 1970
   */
  GcsBucket(String name, boolean hierarchical, AtomicLong generations) {
    this.name = name;
    this.hierarchical = hierarchical;
    this.folders = new GcsFolders(name);
    this.operations = new GcsOperations(name);
    this.generations = generations;
  }

  boolean isHierarchical() {
    return hierarchical;
  }

  /**
   * Asks, or changes, the folders and their operations.
   *
   * @throws GcsException as {@code action} does; 400 in a flat bucket
   */
  <T> T onFolders(FolderAction<T> action) throws GcsException {
    if (!hierarchical) {
      throw GcsException.invalid("The bucket " + name + " has no hierarchical namespace");
    }
    lock.writeLock().lock();
    try {
      return action.apply(folders, operations);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Something that is done with the folders. */
  interface FolderAction<T> {
    T apply(GcsFolders folders, GcsOperations operations) throws GcsException;
  }

  /** Whether no object is below a folder. Inside of {@link #onFolders}. */
  boolean isEmpty(String folder) {
    String first = objects.ceilingKey(folder);
    return first == null || !first.startsWith(folder);
  }

  /** Whether no object is below a folder but the one that stands for it. In {@link #onFolders}. */
  boolean holdsOnlyItself(String folder) {
    String next = objects.higherKey(folder);
    return next == null || !next.startsWith(folder);
  }

  /**
   * Gives a folder, all that are in it and all objects below another name. Objects get new
   * generations: whether they do at the service nobody has told. Inside of {@link #onFolders}.
   */
  void renameFolder(String source, String destination) {
    folders.rename(source, destination);
    Map<String, GcsObject> moved = new TreeMap<>(objects.tailMap(source, true));
    for (Map.Entry<String, GcsObject> object : moved.entrySet()) {
      if (object.getKey().startsWith(source)) {
        objects.remove(object.getKey());
        put(
            destination + object.getKey().substring(source.length()),
            object.getValue().content(),
            object.getValue().attributes());
      }
    }
  }

  String name() {
    return name;
  }

  Instant created() {
    return created;
  }

  boolean isEmpty() {
    lock.readLock().lock();
    try {
      return objects.isEmpty();
    } finally {
      lock.readLock().unlock();
    }
  }

  /** All names, each with a leading slash, and the sizes in bytes. */
  Map<String, Long> tree() {
    lock.readLock().lock();
    try {
      Map<String, Long> tree = new TreeMap<>();
      folders.names().forEach(folder -> tree.put("/" + folder, 0L));
      objects.forEach((object, live) -> tree.put("/" + object, (long) live.content().length()));
      return tree;
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * What has the name.
   *
   * @throws GcsException 404 if nothing has it, 412, 304
   */
  GcsObject read(String object, GcsConditions conditions) throws GcsException {
    lock.readLock().lock();
    try {
      GcsObject live = live(object);
      conditions.checkRead(name, live);
      return live;
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * As the source of a copy: conditions that fail are 412, never 304.
   *
   * @throws GcsException 404 if nothing has the name, 412
   */
  GcsObject source(String object, GcsConditions conditions) throws GcsException {
    lock.readLock().lock();
    try {
      GcsObject live = live(object);
      conditions.checkChange(name, live);
      return live;
    } finally {
      lock.readLock().unlock();
    }
  }

  BucketPage<GcsObject> list(GcsListing listing) {
    lock.readLock().lock();
    try {
      return listing.page(objects, folders.names());
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Whether a write to the name would pass now.
   *
   * @throws GcsException 412 if not, 400 if no object can have the name
   */
  void checkWrite(String object, GcsConditions conditions) throws GcsException {
    checkName(object);
    lock.readLock().lock();
    try {
      conditions.checkWrite(name, Optional.ofNullable(objects.get(object)));
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Makes a new generation of the object, and the object if need be.
   *
   * @throws GcsException 412, 400 if no object can have the name
   */
  GcsObject write(
      String object, GcsContent content, GcsAttributes attributes, GcsConditions conditions)
      throws GcsException {
    checkName(object);
    lock.writeLock().lock();
    try {
      operations.checkUnlocked(object);
      conditions.checkWrite(name, Optional.ofNullable(objects.get(object)));
      return put(object, content, attributes);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /**
   * Gives an object another name, in one step: content and attributes stay, the generation is a new
   * one, and so are its times. Replaces what has that name unless the conditions forbid it.
   *
   * @throws GcsException 404 if the source is missing, 412, 400 if both names are the same
   */
  GcsObject move(
      String source,
      GcsConditions sourceConditions,
      String destination,
      GcsConditions destinationConditions)
      throws GcsException {
    checkName(destination);
    if (source.equals(destination)) {
      throw GcsException.invalid("Source and destination of a move must differ: " + source);
    }
    lock.writeLock().lock();
    try {
      operations.checkUnlocked(source);
      operations.checkUnlocked(destination);
      GcsObject moved = live(source);
      sourceConditions.checkChange(name, moved);
      destinationConditions.checkWrite(name, Optional.ofNullable(objects.get(destination)));
      objects.remove(source);
      return put(destination, moved.content(), moved.attributes());
    } finally {
      lock.writeLock().unlock();
    }
  }

  /**
   * Changes attributes: the next metageneration.
   *
   * @throws GcsException 404 if nothing has the name, 412
   */
  GcsObject change(String object, GcsChange change, GcsConditions conditions) throws GcsException {
    lock.writeLock().lock();
    try {
      GcsObject live = live(object);
      conditions.checkChange(name, live);
      GcsObject changed = live.with(change.apply(live.attributes()));
      objects.put(object, changed);
      return changed;
    } finally {
      lock.writeLock().unlock();
    }
  }

  /**
   * Removes an object.
   *
   * @throws GcsException 404 if nothing has the name, 412
   */
  void delete(String object, GcsConditions conditions) throws GcsException {
    lock.writeLock().lock();
    try {
      operations.checkUnlocked(object);
      conditions.checkChange(name, live(object));
      objects.remove(object);
    } finally {
      lock.writeLock().unlock();
    }
  }

  private GcsObject live(String object) throws GcsException {
    GcsObject live = objects.get(object);
    if (live == null) {
      throw GcsException.noObject(name, object);
    }
    return live;
  }

  private GcsObject put(String object, GcsContent content, GcsAttributes attributes) {
    long now = Instant.now().toEpochMilli() * 1000;
    long generation = generations.updateAndGet(last -> Math.max(last + 1, now));
    GcsObject made = GcsObject.made(name, object, content, attributes, generation);
    objects.put(object, made);
    if (hierarchical) {
      folders.makeFor(object);
    }
    return made;
  }

  private static void checkName(String object) throws GcsException {
    int length = object.getBytes(StandardCharsets.UTF_8).length;
    boolean allowed =
        length > 0
            && length <= LONGEST_NAME
            && !object.equals(".")
            && !object.equals("..")
            && object.indexOf('\n') < 0
            && object.indexOf('\r') < 0;
    if (!allowed) {
      throw GcsException.invalid("No object can have this name: '" + object + "'");
    }
  }
}
