// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * An error as the JSON API words it: status, reason and a body that Google's clients parse. Knows
 * how bodies of JSON are read and written.
 */
final class GcsException extends Exception {
  private static final long serialVersionUID = 1L;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final int status;
  private final String reason;

  GcsException(int status, String reason, String message) {
    super(message);
    this.status = status;
    this.reason = reason;
  }

  /** 400: what was sent is wrong, or is nothing that this emulator knows. */
  static GcsException invalid(String message) {
    return new GcsException(400, "invalid", message);
  }

  /** 404 for an object. */
  static GcsException noObject(String bucket, String name) {
    return new GcsException(404, "notFound", "No such object: " + bucket + "/" + name);
  }

  /** 412. */
  static GcsException conditionNotMet() {
    return new GcsException(
        412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.");
  }

  /** An error of a status, with the reason given or the one that is usual for the status. */
  static GcsException of(int status, String reason) {
    String named = reason.isEmpty() ? usualReason(status) : reason;
    return new GcsException(status, named, usualMessage(status, named));
  }

  private static String usualReason(int status) {
    return switch (status) {
      case 401 -> "required";
      case 403 -> "forbidden";
      case 404 -> "notFound";
      case 408 -> "requestTimeout";
      case 409 -> "conflict";
      case 410 -> "gone";
      case 412 -> "conditionNotMet";
      case 416 -> "requestedRangeNotSatisfiable";
      case 429 -> "rateLimitExceeded";
      case 500 -> "internalError";
      case 504 -> "gatewayTimeout";
      default -> status > 500 ? "backendError" : "invalid";
    };
  }

  private static String usualMessage(int status, String reason) {
    return switch (status) {
      case 404 -> "Not Found";
      case 429 -> "The rate of requests to this bucket exceeds its limit. Reduce the request rate.";
      case 500 -> "We encountered an internal error. Please try again.";
      case 503 -> "Backend error. Please try again.";
      default -> "Refused: " + reason;
    };
  }

  /** The response. */
  Reply reply() {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    ObjectNode error = root.putObject("error");
    error.put("code", status).put("message", getMessage());
    ObjectNode detail = error.putArray("errors").addObject();
    detail.put("message", getMessage()).put("domain", domain()).put("reason", reason);
    if (status == 412) {
      detail.put("locationType", "header").put("location", "If-Match");
    }
    return reply(status, root);
  }

  /** Google's clients tell a rate limit by its domain as well as by its reason. */
  private String domain() {
    return status == 429 || reason.endsWith("ateLimitExceeded") ? "usageLimits" : "global";
  }

  /**
   * The object in a body.
   *
   * @return an empty one for an empty body
   * @throws GcsException 400 if it is anything else
   */
  static ObjectNode object(byte[] body) throws GcsException {
    if (new String(body, StandardCharsets.UTF_8).isBlank()) {
      return JsonNodeFactory.instance.objectNode();
    }
    try {
      JsonNode node = MAPPER.readTree(body);
      if (node.isObject()) {
        return (ObjectNode) node;
      }
    } catch (IOException e) {
      throw new GcsException(400, "parseError", "Parse Error: " + e.getMessage());
    }
    throw new GcsException(400, "parseError", "Parse Error: not an object");
  }

  /** A reply of JSON. */
  static Reply reply(int status, ObjectNode json) {
    try {
      return new Reply(status)
          .body("application/json; charset=UTF-8", MAPPER.writeValueAsBytes(json));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("A tree of JSON nodes can always be written", e);
    }
  }
}
