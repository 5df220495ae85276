// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The renames of folders in one bucket: each is an operation that may end later than its first
 * answer. While it runs nothing below either name may be written, and all can be read as before.
 * Guarded by the bucket's lock.
 */
final class GcsOperations {
  private static final int ABORTED = 10;

  private final String bucket;
  private final Map<String, Rename> renames = new LinkedHashMap<>();
  private boolean held;
  private boolean failing;
  private boolean isNameless;

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

  /** From now on operations do not tell what they rename. */
  void hideNames() {
    isNameless = true;
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
    return rename.json(bucket, isNameless);
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
    return rename.json(bucket, isNameless);
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
        operations.add(rename.json(bucket, isNameless));
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
          && (rename.concerns(rename.source, name) || rename.concerns(rename.destination, name))) {
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

    private ObjectNode json(String bucket, boolean isNameless) {
      ObjectNode json = JsonNodeFactory.instance.objectNode();
      json.put("kind", "storage#operation");
      json.put("name", "projects/_/buckets/" + bucket + "/operations/" + id);
      json.put("done", isDone);
      if (!isNameless) {
        ObjectNode metadata = json.putObject("metadata");
        metadata.put("sourceFolderId", source);
        metadata.put("destinationFolderId", destination);
      }
      if (isDone && fails) {
        json.putObject("error").put("code", ABORTED).put("message", "The rename was aborted.");
      } else if (isDone) {
        json.putObject("response").put("name", destination);
      }
      return json;
    }
  }
}
