// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a user can set on an object besides its content: content type and the like, and the custom
 * metadata. Kept through move and rewrite. Never changed once made.
 */
final class GcsAttributes {
  private static final List<String> EDITABLE =
      List.of(
          "contentType",
          "contentEncoding",
          "contentDisposition",
          "contentLanguage",
          "cacheControl",
          "customTime",
          "storageClass");

  private final Map<String, String> fixed;
  private final Map<String, String> custom;

  private GcsAttributes(Map<String, String> fixed, Map<String, String> custom) {
    this.fixed = Collections.unmodifiableMap(fixed);
    this.custom = Collections.unmodifiableMap(custom);
  }

  /** Those that the JSON of an object has. */
  static GcsAttributes of(ObjectNode json) throws GcsException {
    return new GcsAttributes(Map.of(), Map.of()).patched(json);
  }

  /** Whether the JSON sets any. A rewrite that sets none copies those of the source. */
  static boolean in(ObjectNode json) {
    return json.has("metadata") || EDITABLE.stream().anyMatch(json::has);
  }

  /** As a PATCH changes them: what is absent stays, what is null goes. */
  GcsAttributes patched(ObjectNode json) throws GcsException {
    Map<String, String> newFixed = new TreeMap<>(fixed);
    for (String name : EDITABLE) {
      if (json.has(name)) {
        set(newFixed, name, json.get(name));
      }
    }
    Map<String, String> newCustom = new TreeMap<>(custom);
    JsonNode metadata = json.path("metadata");
    if (metadata.isNull()) {
      newCustom.clear();
    } else if (metadata.isObject()) {
      Iterator<Map.Entry<String, JsonNode>> entries = metadata.fields();
      while (entries.hasNext()) {
        Map.Entry<String, JsonNode> entry = entries.next();
        set(newCustom, entry.getKey(), entry.getValue());
      }
    } else if (!metadata.isMissingNode()) {
      throw GcsException.invalid("metadata must be an object of strings: " + metadata);
    }
    return new GcsAttributes(newFixed, newCustom);
  }

  private static void set(Map<String, String> values, String name, JsonNode value)
      throws GcsException {
    if (value.isNull()) {
      values.remove(name);
    } else if (value.isTextual()) {
      values.put(name, value.textValue());
    } else {
      throw GcsException.invalid("The value of " + name + " must be a string: " + value);
    }
  }

  /** The same with a content type where none is set. */
  GcsAttributes withContentType(String contentType) {
    if (fixed.containsKey("contentType")) {
      return this;
    }
    Map<String, String> newFixed = new TreeMap<>(fixed);
    newFixed.put("contentType", contentType);
    return new GcsAttributes(newFixed, custom);
  }

  String get(String name, String fallback) {
    return fixed.getOrDefault(name, fallback);
  }

  Map<String, String> custom() {
    return custom;
  }

  void writeTo(ObjectNode json) {
    json.put("storageClass", "STANDARD");
    fixed.forEach(json::put);
    if (!custom.isEmpty()) {
      ObjectNode metadata = json.putObject("metadata");
      custom.forEach(metadata::put);
    }
  }
}
