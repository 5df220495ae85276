// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.manifestcommitter.emulator.BucketListing.BucketOrder;
import io.manifestcommitter.emulator.BucketListing.BucketPage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** A request in a repository: what it gives, and how it is answered in JSON. */
record LakefsRequest(Call call, LakefsRoute route, LakefsRepository repository) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int USUAL_PER_PAGE = 100;
  private static final int MOST_PER_PAGE = 1000;

  /** The branch or reference; of a merge or a difference the left one. */
  String ref() {
    return route.names().get(1);
  }

  /** What comes after the reference: the right one, the destination, the upload. */
  String other() {
    return route.names().get(2);
  }

  String path() throws LakefsException {
    return call.parameter("path")
        .filter(path -> !path.isEmpty())
        .orElseThrow(() -> LakefsException.invalid("argument path: required value"));
  }

  boolean isSet(String parameter) {
    return call.parameter(parameter).filter("true"::equalsIgnoreCase).isPresent();
  }

  /** Whether the path must not be there; {@code If-Match} is not implemented by the service. */
  boolean onlyIfNew() throws LakefsException {
    Optional<String> noneMatch = call.header("If-None-Match");
    if (call.header("If-Match").isPresent() || noneMatch.filter(x -> !x.equals("*")).isPresent()) {
      throw new LakefsException(501, "Not Implemented");
    }
    return noneMatch.isPresent();
  }

  JsonNode body() throws LakefsException {
    return body(call);
  }

  /** A text that the body has to have. */
  String text(String field) throws LakefsException {
    return text(body(), field);
  }

  /** The texts by their names that a field of the body has; none where there is no such field. */
  Map<String, String> map(String field) throws LakefsException {
    Map<String, String> map = new TreeMap<>();
    body()
        .path(field)
        .fields()
        .forEachRemaining(each -> map.put(each.getKey(), each.getValue().asText()));
    return map;
  }

  /** The page of items that was asked for, and of what their names are folded to. */
  <T> Reply page(NavigableMap<String, T> all, Described<T> described) throws LakefsException {
    BucketPage<T> page =
        new BucketListing(
                call.parameter("prefix").orElse(""),
                call.parameter("delimiter").orElse(""),
                "",
                amount(),
                call.parameter("after").filter(name -> !name.isEmpty()))
            .page(all);
    NavigableMap<String, ObjectNode> results = new TreeMap<>(new BucketOrder());
    for (Map.Entry<String, T> item : page.items().entrySet()) {
      results.put(item.getKey(), described.as(item.getKey(), item.getValue()));
    }
    for (String prefix : page.prefixes()) {
      ObjectNode folded = object().put("path", prefix).put("path_type", "common_prefix");
      folded.put("physical_address", "").put("checksum", "").put("mtime", 0);
      results.put(prefix, folded.put("type", "prefix_changed"));
    }
    ArrayNode nodes = array().addAll(results.values());
    return paged(nodes, page.token().isPresent() ? results.lastKey() : "");
  }

  /** A page, and what the next one is asked for with: empty on the last. */
  static Reply paged(ArrayNode results, String next) {
    ObjectNode node = object();
    node.putObject("pagination")
        .put("has_more", !next.isEmpty())
        .put("next_offset", next)
        .put("results", results.size())
        .put("max_per_page", MOST_PER_PAGE);
    node.set("results", results);
    return json(200, node);
  }

  /** How many items a page has at most. */
  int amount() throws LakefsException {
    String amount = call.parameter("amount").orElse("0");
    if (!amount.matches("-1|\\d{1,4}") || Integer.parseInt(amount) > MOST_PER_PAGE) {
      throw LakefsException.invalid("amount: number must be -1 to " + MOST_PER_PAGE);
    }
    return Integer.parseInt(amount) < 1 ? USUAL_PER_PAGE : Integer.parseInt(amount);
  }

  /** The body of a request; that of none is an empty object. */
  static JsonNode body(Call call) throws LakefsException {
    try {
      return call.body().length == 0 ? object() : JSON.readTree(call.body());
    } catch (IOException e) {
      throw LakefsException.invalid("request body has an error: " + e.getMessage());
    }
  }

  static String text(JsonNode body, String field) throws LakefsException {
    if (!body.path(field).isTextual()) {
      throw LakefsException.invalid("request body has an error: property \"" + field + "\"");
    }
    return body.path(field).asText();
  }

  static ObjectNode object() {
    return JSON.createObjectNode();
  }

  static ArrayNode array() {
    return JSON.createArrayNode();
  }

  /** A value of Java's collections in JSON. */
  static JsonNode tree(Object value) {
    return JSON.valueToTree(value);
  }

  static Reply json(int status, JsonNode body) {
    return new Reply(status)
        .body("application/json", body.toString().getBytes(StandardCharsets.UTF_8));
  }

  /** How an item of a page is told. */
  interface Described<T> {
    ObjectNode as(String name, T item) throws LakefsException;
  }
}
