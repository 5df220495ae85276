// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Steers emulators from another process, in JSON: their logs, faults, limits and trees, by the name
 * of the store.
 *
 * <pre>
 * GET    /log/{store}                  [{number, method, operation, path, status, cause}]
 * DELETE /log/{store}
 * GET    /counts/{store}               {operation: requests}
 * GET    /tree/{store}                 [{path, size}]
 * POST   /faults/{store}               a rule: operation, path, call, times, action, status, code,
 *                                      milliseconds; gives {number}
 * GET    /faults/{store}/{n}           {applied, held}
 * POST   /faults/{store}/{n}/release
 * DELETE /faults/{store}
 * POST   /limit/{store}                {perSecond, status}; perSecond 0 for none
 * POST   /server/lakefs                {advance, blockstore, without}: milliseconds by which the
 *                                      clock is moved, "s3" or "local", abilities that are missing
 * </pre>
 *
 * <p>The status of a dropped request is "dropped". An action is that of {@link FaultRule.When}:
 * "refuse", "applyThenFail". What is asked wrongly is answered with 400 or 404 and {error}.
 */
final class ControlEndpoint implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Set<String> RULE_FIELDS =
      Set.of("operation", "path", "call", "times", "action", "status", "code", "milliseconds");

  private final Map<String, Emulator> stores;
  private final Map<String, List<FaultRule>> rules = new ConcurrentHashMap<>();
  private final HttpListener listener;

  private ControlEndpoint(Map<String, Emulator> stores) throws IOException {
    this.stores = Map.copyOf(stores);
    for (String store : stores.keySet()) {
      rules.put(store, new CopyOnWriteArrayList<>());
    }
    this.listener = HttpListener.open(0, this::handle);
  }

  /**
   * Starts on a free port.
   *
   * @param stores by their names in the paths
   */
  static ControlEndpoint open(Map<String, Emulator> stores) throws IOException {
    return new ControlEndpoint(stores);
  }

  int port() {
    return listener.port();
  }

  @Override
  public void close() {
    listener.close();
  }

  private void handle(HttpExchange exchange) throws IOException {
    Reply reply;
    try {
      reply = json(200, answer(Call.read(exchange)));
    } catch (Refused e) {
      reply = error(e.status, e.getMessage());
    } catch (IllegalArgumentException | JsonProcessingException e) {
      reply = error(400, e.getMessage());
    }
    RequestHandler.send(exchange, reply);
  }

  private JsonNode answer(Call call) throws IOException {
    List<String> path = List.of(call.rawPath().substring(1).split("/", -1));
    if (path.size() < 2) {
      throw unknown(call);
    }
    Emulator emulator = stores.get(path.get(1));
    if (emulator == null) {
      throw new Refused(
          404, "No store " + path.get(1) + "; there are " + new TreeSet<>(stores.keySet()));
    }
    String what = call.method() + " " + path.get(0);
    if (path.size() == 3 && what.equals("GET faults")) {
      FaultRule rule = rule(path);
      return JSON.createObjectNode().put("applied", rule.applied()).put("held", rule.held());
    }
    if (path.size() == 4 && what.equals("POST faults") && path.get(3).equals("release")) {
      rule(path).release();
      return done();
    }
    return switch (path.size() == 2 ? what : "unknown") {
      case "GET log" -> log(emulator);
      case "DELETE log" -> {
        emulator.log().clear();
        yield done();
      }
      case "GET counts" -> JSON.valueToTree(emulator.log().counts());
      case "GET tree" -> tree(emulator);
      case "POST faults" -> addRule(emulator, rules.get(path.get(1)), body(call, RULE_FIELDS));
      case "DELETE faults" -> {
        emulator.faults().clear();
        yield done();
      }
      case "POST limit" -> limit(emulator, body(call, Set.of("perSecond", "status")));
      case "POST server" ->
          server(call, emulator, body(call, Set.of("advance", "blockstore", "without")));
      default -> throw unknown(call);
    };
  }

  private static JsonNode server(Call call, Emulator emulator, JsonNode body) {
    if (!(emulator instanceof LakefsEmulator)) {
      throw unknown(call);
    }
    LakefsEmulator lakefs = (LakefsEmulator) emulator;
    lakefs.advance(Duration.ofMillis(body.path("advance").asLong()));
    if (body.has("blockstore")) {
      lakefs.blockstore(body.get("blockstore").asText());
    }
    if (body.has("without")) {
      lakefs.without(JSON.convertValue(body.get("without"), String[].class));
    }
    return done();
  }

  private static JsonNode log(Emulator emulator) {
    ArrayNode entries = JSON.createArrayNode();
    for (RequestLog.Entry entry : emulator.log().entries()) {
      ObjectNode node =
          entries
              .addObject()
              .put("number", entry.number())
              .put("method", entry.method())
              .put("operation", entry.operation())
              .put("path", entry.path())
              .put("cause", entry.cause());
      if (entry.dropped()) {
        node.put("status", "dropped");
      } else {
        node.put("status", entry.status());
      }
    }
    return entries;
  }

  private static JsonNode tree(Emulator emulator) {
    ArrayNode paths = JSON.createArrayNode();
    emulator.tree().forEach((path, size) -> paths.addObject().put("path", path).put("size", size));
    return paths;
  }

  private static JsonNode addRule(Emulator emulator, List<FaultRule> known, JsonNode body) {
    FaultRule rule = parse(body);
    int number;
    synchronized (known) {
      known.add(rule);
      number = known.size();
    }
    emulator.faults().add(rule);
    return JSON.createObjectNode().put("number", number);
  }

  private static FaultRule parse(JsonNode body) {
    FaultRule.When when =
        FaultRule.on(required(body, "operation").asText())
            .path(body.path("path").asText(""))
            .call(body.path("call").asInt(1))
            .times(body.path("times").asInt(1));
    String code = body.path("code").asText("");
    String action = required(body, "action").asText();
    return switch (action) {
      case "refuse" -> when.refuse(required(body, "status").asInt(), code);
      case "applyThenFail" -> when.applyThenFail(required(body, "status").asInt(), code);
      case "applyThenStall" -> when.applyThenStall(milliseconds(body));
      case "applyThenDrop" -> when.applyThenDrop();
      case "drop" -> when.drop();
      case "stall" -> when.stall(milliseconds(body));
      case "hold" -> when.hold();
      default -> throw new Refused(400, "Not an action of a fault rule: " + action);
    };
  }

  private static Duration milliseconds(JsonNode body) {
    return Duration.ofMillis(required(body, "milliseconds").asLong());
  }

  private static JsonNode limit(Emulator emulator, JsonNode body) {
    int perSecond = required(body, "perSecond").asInt();
    if (body.has("status")) {
      emulator.limit(perSecond, body.get("status").asInt());
    } else {
      emulator.limit(perSecond);
    }
    return done();
  }

  private FaultRule rule(List<String> path) {
    List<FaultRule> known = rules.get(path.get(1));
    int number = Integer.parseInt(path.get(2));
    if (number < 1 || number > known.size()) {
      throw new Refused(404, "No fault rule " + number + " for " + path.get(1));
    }
    return known.get(number - 1);
  }

  private static JsonNode body(Call call, Set<String> fields) throws IOException {
    JsonNode body = JSON.readTree(call.body());
    if (!body.isObject()) {
      throw new Refused(400, "Not a JSON object");
    }
    body.fieldNames()
        .forEachRemaining(
            name -> {
              if (!fields.contains(name)) {
                throw new Refused(400, "Unknown: " + name + "; there are " + new TreeSet<>(fields));
              }
            });
    return body;
  }

  private static JsonNode required(JsonNode body, String name) {
    if (!body.hasNonNull(name)) {
      throw new Refused(400, "Missing: " + name);
    }
    return body.get(name);
  }

  private static JsonNode done() {
    return JSON.createObjectNode();
  }

  private static Refused unknown(Call call) {
    return new Refused(404, "Unknown: " + call.method() + " " + call.rawPath());
  }

  private static Reply error(int status, String message) throws IOException {
    return json(status, JSON.createObjectNode().put("error", message));
  }

  private static Reply json(int status, JsonNode body) throws IOException {
    return new Reply(status).body("application/json", JSON.writeValueAsBytes(body));
  }

  /** A request that cannot be done as it stands. */
  private static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;

    Refused(int status, String message) {
      super(message, null, false, false);
      this.status = status;
    }
  }
}
