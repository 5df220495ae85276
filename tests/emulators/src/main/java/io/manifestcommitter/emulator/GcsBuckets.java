// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/** The buckets of a project. Safe for many threads. */
final class GcsBuckets {
  private final NavigableMap<String, GcsBucket> buckets = new TreeMap<>();
  private final AtomicLong generations = new AtomicLong();

  /**
   * Makes a bucket.
   *
   * @param hierarchical whether it has folders
   * @throws GcsException 409 if it exists, 400 for an empty name
   */
  synchronized GcsBucket create(String name, boolean hierarchical) throws GcsException {
    if (name.isEmpty()) {
      throw new GcsException(400, "required", "Required bucket name");
    }
    if (buckets.containsKey(name)) {
      throw new GcsException(
          409, "conflict", "Your previous request to create the named bucket succeeded.");
    }
    GcsBucket bucket = new GcsBucket(name, hierarchical, generations);
    buckets.put(name, bucket);
    return bucket;
  }

  /**
   * A bucket.
   *
   * @throws GcsException 404 if there is none
   */
  synchronized GcsBucket get(String name) throws GcsException {
    GcsBucket bucket = buckets.get(name);
    if (bucket == null) {
      throw GcsException.noBucket();
    }
    return bucket;
  }

  /**
   * Removes an empty bucket.
   *
   * @throws GcsException 404, 409 if objects are in it
   */
  synchronized void delete(String name) throws GcsException {
    if (!get(name).isEmpty()) {
      throw new GcsException(409, "conflict", "The bucket you tried to delete is not empty.");
    }
    buckets.remove(name);
  }

  /** All of them, whose names begin with the prefix, on one page. */
  synchronized ObjectNode list(String prefix) {
    ObjectNode json = JsonNodeFactory.instance.objectNode().put("kind", "storage#buckets");
    ArrayNode items = json.putArray("items");
    buckets.values().stream()
        .filter(bucket -> bucket.name().startsWith(prefix))
        .forEach(bucket -> items.add(json(bucket)));
    return json;
  }

  /** The bucket resource of the JSON API. */
  static ObjectNode json(GcsBucket bucket) {
    String created = HttpTimes.body(bucket.created());
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("kind", "storage#bucket");
    json.put("id", bucket.name());
    json.put("name", bucket.name());
    json.put("projectNumber", "1");
    json.put("metageneration", "1");
    json.put("location", "US");
    json.put("locationType", "multi-region");
    json.put("storageClass", "STANDARD");
    json.put("etag", "CAE=");
    json.put("timeCreated", created);
    json.put("updated", created);
    return json;
  }

  /** Whether there are folders, which can be renamed. */
  static ObjectNode layout(GcsBucket bucket) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("kind", "storage#storageLayout");
    json.put("bucket", bucket.name());
    json.put("location", "US");
    json.put("locationType", "multi-region");
    json.putObject("hierarchicalNamespace").put("enabled", bucket.isHierarchical());
    return json;
  }
}
