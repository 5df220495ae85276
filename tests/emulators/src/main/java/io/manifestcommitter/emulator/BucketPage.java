package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One page of a listing. */
final class BucketPage {
  private final List<GcsObject> items = new ArrayList<>();
  private final List<String> prefixes = new ArrayList<>();
  private Optional<String> token = Optional.empty();

  void add(GcsObject item) {
    items.add(item);
  }

  void addPrefix(String prefix) {
    prefixes.add(prefix);
  }

  /** There is more. */
  void continueWith(String nextToken) {
    token = Optional.of(nextToken);
  }

  int size() {
    return items.size() + prefixes.size();
  }

  /** The list resource of the JSON API; what is empty is left out. */
  ObjectNode json(String root) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("kind", "storage#objects");
    token.ifPresent(next -> json.put("nextPageToken", next));
    if (!prefixes.isEmpty()) {
      ArrayNode array = json.putArray("prefixes");
      prefixes.forEach(array::add);
    }
    if (!items.isEmpty()) {
      ArrayNode array = json.putArray("items");
      items.forEach(item -> array.add(item.json(root)));
    }
    return json;
  }
}
