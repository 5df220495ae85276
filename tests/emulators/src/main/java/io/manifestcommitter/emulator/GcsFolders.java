// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.manifestcommitter.emulator.BucketListing.BucketOrder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The folders of a bucket with hierarchical namespace, by names that end in a slash. An object
 * makes the folders that lead to it; they stay when it goes. Guarded by the bucket's lock.
 */
final class GcsFolders {
  private static final String DELIMITER = "/";

  private final String bucket;
  private final NavigableMap<String, Instant> folders = new TreeMap<>(new BucketOrder());

  GcsFolders(String bucket) {
    this.bucket = bucket;
  }

  /** The folder that a name is in; empty for one at the top. */
  static String parent(String name) {
    int end = name.length() - (name.endsWith(DELIMITER) ? 1 : 0);
    return name.substring(0, name.lastIndexOf(DELIMITER, end - 1) + 1);
  }

  Collection<String> names() {
    return folders.keySet();
  }

  boolean has(String folder) {
    return folder.isEmpty() || folders.containsKey(folder);
  }

  /** Makes what leads to an object; the object of a name with a slash at its end stands for one. */
  void makeFor(String object) {
    Instant now = Instant.now();
    for (int end = object.indexOf(DELIMITER); end >= 0; end = object.indexOf(DELIMITER, end + 1)) {
      folders.putIfAbsent(object.substring(0, end + 1), now);
    }
  }

  /**
   * Makes a folder.
   *
   * @param recursive also its parents
   * @throws GcsException 409 if it exists, or its parent does not, 400 if it can be no folder
   */
  void create(String folder, boolean recursive) throws GcsException {
    requireName(folder);
    requireNew(folder);
    if (!recursive && !has(parent(folder))) {
      throw noParent();
    }
    makeFor(folder);
  }

  /**
   * Removes a folder.
   *
   * @param isEmpty whether no object is below it
   * @throws GcsException 404, 409 if something is in it
   */
  void delete(String folder, boolean isEmpty) throws GcsException {
    require(folder);
    if (!isEmpty || below(folder).size() > 1) {
      throw new GcsException(409, "conflict", "The folder you tried to delete is not empty.");
    }
    folders.remove(folder);
  }

  /**
   * Which name a folder gets that is to be renamed.
   *
   * @param onto what happens where there is one of that name; the service answers with a conflict
   * @throws GcsException 404, 409 if there is one of that name, or its parent is missing, 400 if it
   *     would be in itself
   */
  String target(String source, String destination, Onto onto, GcsBucket bucketOfIt)
      throws GcsException {
    requireName(destination);
    if (destination.startsWith(source)) {
      throw GcsException.invalid("A folder cannot be renamed into itself: " + source);
    }
    require(source);
    String target = destination;
    if (onto == Onto.NESTS && folders.containsKey(destination)) {
      target = destination + source.substring(parent(source).length());
    }
    boolean isReplaced =
        onto == Onto.REPLACES_IF_EMPTY
            && below(destination).size() == 1
            && bucketOfIt.holdsOnlyItself(destination);
    if (!isReplaced) {
      requireNew(target);
    }
    if (!has(parent(target))) {
      throw noParent();
    }
    return target;
  }

  /** Gives a folder, and all that are in it, another name. */
  void rename(String source, String destination) {
    Instant now = Instant.now();
    for (String folder : below(source)) {
      folders.remove(folder);
      folders.put(destination + folder.substring(source.length()), now);
    }
  }

  /** A folder and those in it. */
  private List<String> below(String folder) {
    return folders.tailMap(folder, true).keySet().stream()
        .takeWhile(name -> name.startsWith(folder))
        .toList();
  }

  /**
   * The folder resource.
   *
   * @throws GcsException 404
   */
  ObjectNode json(String folder) throws GcsException {
    require(folder);
    String time = HttpTimes.body(folders.get(folder));
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("kind", "storage#folder");
    json.put("id", bucket + "/" + folder);
    json.put(
        "selfLink",
        "/storage/v1/b/"
            + bucket
            + "/folders/"
            + URLEncoder.encode(folder, StandardCharsets.UTF_8));
    json.put("name", folder);
    json.put("bucket", bucket);
    json.put("metageneration", "1");
    json.put("createTime", time);
    json.put("updateTime", time);
    return json;
  }

  /** All folders below a prefix, on one page; with a delimiter those directly in it. */
  ObjectNode list(String prefix, Optional<String> delimiter) throws GcsException {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("kind", "storage#folders");
    ArrayNode items = json.putArray("items");
    for (String folder : below(prefix)) {
      if (delimiter.isEmpty() || parent(folder).equals(prefix)) {
        items.add(json(folder));
      }
    }
    return json;
  }

  private void require(String folder) throws GcsException {
    if (!folders.containsKey(folder)) {
      throw new GcsException(404, "notFound", "The folder does not exist: " + folder);
    }
  }

  private void requireNew(String folder) throws GcsException {
    if (folders.containsKey(folder)) {
      throw new GcsException(409, "conflict", "The folder you tried to create already exists.");
    }
  }

  private static GcsException noParent() {
    return new GcsException(409, "conflict", "The parent folder does not exist.");
  }

  private static void requireName(String folder) throws GcsException {
    if (!folder.endsWith(DELIMITER) || folder.equals(DELIMITER)) {
      throw GcsException.invalid("No folder can have this name: '" + folder + "'");
    }
  }

  /**
   * The renames of folders in one bucket: each is an operation that may end later than its first
   * answer. While it runs nothing below either name may be written, and all can be read as before.
   * Guarded by the bucket's lock.
   */
  static final class GcsOperations {
    private static final int ABORTED = 10;

    private final String bucket;
    private final Map<String, Rename> renames = new LinkedHashMap<>();
    private boolean held;
    private boolean failing;

    GcsOperations(String bucket) {
      this.bucket = bucket;
    }

    /** From now on renames run until they are released. */
    void hold() {
      held = true;
    }

    /** From now on renames fail, and change nothing. */
    void fail() {
      failing = true;
    }

    /** Ends all that run, and from now on each with its first answer; none fails any more. */
    void release(Effect effect) {
      held = false;
      renames.values().stream()
          .filter(rename -> !rename.isDone)
          .forEach(rename -> rename.end(effect));
      failing = false;
    }

    /** Begins a rename that may be done. */
    ObjectNode begin(String source, String destination, Effect effect) {
      Rename rename = new Rename("rename-" + (renames.size() + 1), source, destination, failing);
      renames.put(rename.id, rename);
      if (!held) {
        rename.end(effect);
      }
      return rename.json(bucket);
    }

    /**
     * An operation.
     *
     * @throws GcsException 404
     */
    ObjectNode json(String id) throws GcsException {
      Rename rename = renames.get(id);
      if (rename == null) {
        throw new GcsException(404, "notFound", "No such operation: " + id);
      }
      return rename.json(bucket);
    }

    /** All operations, or those that run. */
    ObjectNode list(Optional<String> filter) throws GcsException {
      if (filter.isPresent() && !filter.get().replace(" ", "").equals("done=false")) {
        throw GcsException.invalid("This emulator filters by done = false only: " + filter.get());
      }
      ObjectNode json = JsonNodeFactory.instance.objectNode();
      json.put("kind", "storage#operations");
      ArrayNode operations = json.putArray("operations");
      for (Rename rename : renames.values()) {
        if (filter.isEmpty() || !rename.isDone) {
          operations.add(rename.json(bucket));
        }
      }
      return json;
    }

    /**
     * Whether a name may be changed now.
     *
     * @throws GcsException 429 while a rename runs that concerns it
     */
    void checkUnlocked(String name) throws GcsException {
      for (Rename rename : renames.values()) {
        if (!rename.isDone
            && (rename.concerns(rename.source, name)
                || rename.concerns(rename.destination, name))) {
          throw new GcsException(
              429,
              "rateLimitExceeded",
              "The folder " + rename.source + " is being renamed. Try again later.");
        }
      }
    }

    /** What a rename changes. */
    interface Effect {
      void rename(String source, String destination);
    }

    private static final class Rename {
      private final String id;
      private final String source;
      private final String destination;
      private final boolean fails;
      private boolean isDone;

      Rename(String id, String source, String destination, boolean fails) {
        this.id = id;
        this.source = source;
        this.destination = destination;
        this.fails = fails;
      }

      /** What is in a folder, and the folders that it is in. */
      private boolean concerns(String folder, String name) {
        return name.startsWith(folder) || (name.endsWith("/") && folder.startsWith(name));
      }

      private void end(Effect effect) {
        if (!fails) {
          effect.rename(source, destination);
        }
        isDone = true;
      }

      private ObjectNode json(String bucket) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("kind", "storage#operation");
        json.put("name", "projects/_/buckets/" + bucket + "/operations/" + id);
        json.put("done", isDone);
        json.putObject("metadata")
            .put("sourceFolderId", source)
            .put("destinationFolderId", destination);
        if (isDone && fails) {
          json.putObject("error").put("code", ABORTED).put("message", "The rename was aborted.");
        } else if (isDone) {
          json.putObject("response").put("name", destination);
        }
        return json;
      }
    }
  }
}
