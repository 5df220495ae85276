// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.manifestcommitter.emulator.BucketListing.BucketPage;
import io.manifestcommitter.emulator.Protocol.Operation;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * The JSON API of Google Cloud Storage, version 1, as far as the Hadoop connector and Google's
 * Python client use it for files, and the folders of buckets with hierarchical namespace. There are
 * no object versions, access lists, copies or batches. {@code projection} is ignored but for page
 * sizes. A reply has the {@code fields} that were asked for, and a request that is repeated with
 * its idempotency token its first result.
 *
 * <p>Operations: get, list, insert, upload (a request of a resumable session), move, compose,
 * delete, read (the content), bucket, layout, folder-create, folder-get, folder-list,
 * folder-delete, folder-rename, operation, operation-list, and unknown for anything else, which is
 * answered 400.
 */
final class GcsProtocol implements Protocol {
  private static final String TOKEN = "x-goog-gcs-idempotency-token";

  /** Requests whose tokens count. */
  private static final Set<String> WITH_TOKENS = Set.of("insert", "move", "delete");

  private final Map<String, GcsBucket> buckets;

  /**
   * The resumable uploads under way, and those that ended lately: a client that lost the last
   * answer asks again. The service forgets a session after a week, this after many newer ones.
   */
  private final Map<String, GcsSession> sessions = lately(20_000);

  /**
   * The first results of requests, by the tokens that Google's clients send with each try of one
   * request. The service answers a repeat with it, for some two minutes (observed; not documented).
   */
  private final Map<String, Reply> results = lately(10_000);

  private final Instant started = Instant.now();
  private volatile boolean forgetsTokens;
  private volatile Onto onto = Onto.CONFLICT;

  /** A project with one bucket that is flat and one that is not. */
  GcsProtocol(GcsBucket flat, GcsBucket hierarchical) {
    buckets = Map.of(flat.name(), flat, hierarchical.name(), hierarchical);
  }

  /** A map that forgets its oldest entry for a new one. Safe for many threads. */
  private static <T> Map<String, T> lately(int most) {
    return Collections.synchronizedMap(
        new LinkedHashMap<>() {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, T> eldest) {
            return size() > most;
          }
        });
  }

  /**
   * A bucket.
   *
   * @throws GcsException 404 if there is none
   */
  GcsBucket bucket(String name) throws GcsException {
    GcsBucket bucket = buckets.get(name);
    if (bucket == null) {
      throw new GcsException(404, "notFound", "The specified bucket does not exist.");
    }
    return bucket;
  }

  void onto(Onto answer) {
    onto = answer;
  }

  /** From now on a repeated request is a new one. */
  void forgetTokens() {
    forgetsTokens = true;
  }

  @Override
  public Operation classify(Call call) {
    GcsRoute route = GcsRoute.of(call);
    return switch (route.target()) {
      case BUCKET -> new Operation(route.method().equals("GET") ? "bucket" : "unknown", "/");
      case LAYOUT -> new Operation("layout", "/");
      case FOLDERS ->
          route.method().equals("POST")
              ? new Operation("folder-create", "/" + nameOfFolder(call))
              : new Operation(
                  route.method().equals("GET") ? "folder-list" : "unknown",
                  "/" + call.parameter("prefix").orElse(""));
      case FOLDER -> new Operation(onFolder(route.method()), "/" + route.object());
      case FOLDER_RENAME -> new Operation("folder-rename", "/" + route.destination());
      case OPERATIONS -> new Operation("operation-list", "/");
      case OPERATION -> new Operation("operation", "/" + route.object());
      case OBJECTS -> classifyObjects(call, route.method());
      case OBJECT -> new Operation(onObject(call, route.method()), "/" + route.object());
      case COMPOSE -> new Operation("compose", "/" + route.destination());
      case MOVE -> new Operation("move", "/" + route.destination());
      default -> new Operation("unknown", call.rawPath());
    };
  }

  private Operation classifyObjects(Call call, String method) {
    String upload = call.parameter("upload_id").orElse("");
    if (!upload.isEmpty()) {
      GcsSession session = sessions.get(upload);
      return new Operation("upload", "/" + (session == null ? "" : session.object()));
    }
    if (method.equals("GET")) {
      return new Operation("list", "/" + call.parameter("prefix").orElse(""));
    }
    return method.equals("POST")
        ? new Operation("insert", "/" + nameToInsert(call))
        : new Operation("unknown", call.rawPath());
  }

  private static String nameToInsert(Call call) {
    try {
      return GcsUpload.of(call).name(call);
    } catch (GcsException e) {
      // The answer will say what is wrong; it concerns no object.
      return "";
    }
  }

  private static String nameOfFolder(Call call) {
    try {
      return GcsException.object(call.body()).path("name").asText("");
    } catch (GcsException e) {
      // The answer will say what is wrong; it concerns no folder.
      return "";
    }
  }

  private static String onFolder(String method) {
    return switch (method) {
      case "GET" -> "folder-get";
      case "DELETE" -> "folder-delete";
      default -> "unknown";
    };
  }

  private static String onObject(Call call, String method) {
    return switch (method) {
      case "GET" -> isMedia(call) ? "read" : "get";
      case "DELETE" -> "delete";
      default -> "unknown";
    };
  }

  private static boolean isMedia(Call call) {
    return call.parameter("alt").filter("media"::equals).isPresent();
  }

  @Override
  public Reply refusal(Call call, int status, String code) {
    return GcsException.of(status, code).reply();
  }

  @Override
  public Reply answer(Call call) {
    GcsRoute route = GcsRoute.of(call);
    String request = classify(call).name();
    try {
      String token = call.header(TOKEN).orElse("");
      if (token.isEmpty() || forgetsTokens || !WITH_TOKENS.contains(request)) {
        return answer(call, route, request);
      }
      String key = token + " " + call.method() + " " + call.rawPath();
      Reply first = results.get(key);
      if (first == null) {
        // An error is no result. Two tries of one request do not come at once.
        first = answer(call, route, request);
        results.put(key, first);
      }
      return first;
    } catch (GcsException e) {
      return e.reply();
    }
  }

  private Reply answer(Call call, GcsRoute route, String request) throws GcsException {
    if (request.equals("unknown")) {
      throw unknown(call);
    }
    return switch (route.target()) {
      case BUCKET -> reply(call, bucketJson(bucket(route.bucket())));
      case LAYOUT -> reply(call, layoutJson(bucket(route.bucket())));
      case FOLDERS, FOLDER, FOLDER_RENAME, OPERATIONS, OPERATION -> onFolders(call, route, request);
      case OBJECTS -> onObjects(call, route, request);
      case OBJECT -> onObject(call, route, request);
      case COMPOSE -> {
        requirePost(call, route);
        yield object(call, compose(call, bucket(route.bucket()), route.destination()));
      }
      default -> {
        requirePost(call, route);
        yield object(
            call,
            bucket(route.bucket())
                .move(
                    route.object(),
                    GcsConditions.ofSource(call),
                    route.destination(),
                    GcsConditions.of(call)));
      }
    };
  }

  /** Puts objects together, as the connector does with a stream that is flushed. */
  private static GcsObject compose(Call call, GcsBucket bucket, String name) throws GcsException {
    ObjectNode request = GcsException.object(call.body());
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (JsonNode source : request.path("sourceObjects")) {
      String part = source.path("name").asText();
      content.writeBytes(bucket.read(part, GcsConditions.ofSource(call)).bytes());
    }
    JsonNode metadata = request.path("destination");
    return bucket.write(
        name,
        content.toByteArray(),
        metadata.isObject() ? (ObjectNode) metadata : JsonNodeFactory.instance.objectNode(),
        GcsConditions.of(call));
  }

  private static void requirePost(Call call, GcsRoute route) throws GcsException {
    if (!route.method().equals("POST")) {
      throw unknown(call);
    }
  }

  private static GcsException unknown(Call call) {
    return GcsException.invalid(
        "This emulator does not know the request " + call.method() + " " + call.rawPath());
  }

  private ObjectNode bucketJson(GcsBucket bucket) {
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
    json.put("timeCreated", HttpTimes.body(started));
    json.put("updated", HttpTimes.body(started));
    return json;
  }

  /** Whether there are folders, which can be renamed. */
  private static ObjectNode layoutJson(GcsBucket bucket) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("kind", "storage#storageLayout");
    json.put("bucket", bucket.name());
    json.put("location", "US");
    json.put("locationType", "multi-region");
    json.putObject("hierarchicalNamespace").put("enabled", bucket.isHierarchical());
    return json;
  }

  private Reply onFolders(Call call, GcsRoute route, String request) throws GcsException {
    GcsBucket bucket = bucket(route.bucket());
    String name = route.object();
    ObjectNode json =
        bucket.onFolders(
            (folders, operations) ->
                switch (request) {
                  case "folder-create" -> {
                    String made = nameOfFolder(call);
                    operations.checkUnlocked(made);
                    folders.create(
                        made, call.parameter("recursive").filter("true"::equals).isPresent());
                    yield folders.json(made);
                  }
                  case "folder-get" -> folders.json(name);
                  case "folder-list" ->
                      folders.list(
                          call.parameter("prefix").orElse(""), call.parameter("delimiter"));
                  case "folder-delete" -> {
                    operations.checkUnlocked(name);
                    folders.delete(name, bucket.isEmpty(name));
                    yield null;
                  }
                  case "folder-rename" -> {
                    requirePost(call, route);
                    operations.checkUnlocked(name);
                    operations.checkUnlocked(route.destination());
                    String target = folders.target(name, route.destination(), onto, bucket);
                    yield operations.begin(name, target, bucket::renameFolder);
                  }
                  case "operation" -> operations.json(name);
                  default -> operations.list(call.parameter("filter"));
                });
    return json == null ? new Reply(204) : reply(call, json);
  }

  private Reply onObjects(Call call, GcsRoute route, String request) throws GcsException {
    GcsBucket bucket = bucket(route.bucket());
    return switch (request) {
      case "list" -> reply(call, json(bucket.list(GcsListing.of(call)), root(call)));
      case "upload" -> upload(call, route.method());
      default -> insert(call, bucket);
    };
  }

  /** The list resource; what is empty is left out. */
  private static ObjectNode json(BucketPage<GcsObject> page, String root) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("kind", "storage#objects");
    page.token().ifPresent(next -> json.put("nextPageToken", next));
    if (!page.prefixes().isEmpty()) {
      ArrayNode array = json.putArray("prefixes");
      page.prefixes().forEach(array::add);
    }
    if (!page.items().isEmpty()) {
      ArrayNode array = json.putArray("items");
      page.items().values().forEach(item -> array.add(item.json(root)));
    }
    return json;
  }

  private Reply insert(Call call, GcsBucket bucket) throws GcsException {
    GcsUpload upload = GcsUpload.of(call);
    String name = upload.name(call);
    GcsConditions conditions = GcsConditions.of(call);
    if (call.parameter("uploadType").filter("resumable"::equals).isPresent()) {
      bucket.checkWrite(name, conditions);
      String id = UUID.randomUUID().toString();
      sessions.put(id, new GcsSession(bucket, name, upload.metadata(), conditions));
      String location =
          String.format(
              "%s/upload/storage/v1/b/%s/o?uploadType=resumable&upload_id=%s",
              root(call), bucket.name(), id);
      return new Reply(200).header("Location", location).header("X-GUploader-UploadID", id);
    }
    GcsObject.prove(upload.content(), upload.metadata(), call);
    return object(call, bucket.write(name, upload.content(), upload.metadata(), conditions));
  }

  private Reply upload(Call call, String method) throws GcsException {
    String id = call.parameter("upload_id").orElse("");
    GcsSession session = method.equals("DELETE") ? sessions.remove(id) : sessions.get(id);
    if (session == null) {
      throw new GcsException(404, "notFound", "No such upload session: " + id);
    }
    return switch (method) {
      case "DELETE" -> new Reply(499);
      case "PUT", "POST" -> session.put(call, root(call));
      default -> throw unknown(call);
    };
  }

  private Reply onObject(Call call, GcsRoute route, String request) throws GcsException {
    GcsBucket bucket = bucket(route.bucket());
    GcsConditions conditions = GcsConditions.of(call);
    return switch (request) {
      case "get" -> object(call, bucket.read(route.object(), conditions));
      case "read" -> read(call, bucket.read(route.object(), conditions));
      default -> {
        bucket.delete(route.object(), conditions);
        yield new Reply(204);
      }
    };
  }

  private static Reply read(Call call, GcsObject object) throws GcsException {
    int length = object.bytes().length;
    ByteRange range =
        ByteRange.of(call.header("Range"), length).orElseThrow(() -> GcsException.of(416, ""));
    Reply reply =
        new Reply(range.isPartial() ? 206 : 200)
            .header("ETag", object.etag())
            .header("X-Goog-Generation", Long.toString(object.generation()))
            .header("X-Goog-Metageneration", "1")
            .header("X-Goog-Storage-Class", "STANDARD")
            .header("X-Goog-Stored-Content-Length", Integer.toString(length))
            .header(
                "X-Goog-Stored-Content-Encoding", object.metadata("contentEncoding", "identity"))
            .header("X-Goog-Hash", object.hashes());
    if (range.isPartial()) {
      reply.header("Content-Range", range.header(length));
    }
    return reply.body(
        object.metadata("contentType", "application/octet-stream"),
        Arrays.copyOfRange(object.bytes(), range.from(), range.to()));
  }

  private static Reply reply(Call call, ObjectNode json) throws GcsException {
    return GcsException.reply(200, GcsFields.filter(call, json));
  }

  private static Reply object(Call call, GcsObject object) throws GcsException {
    return reply(call, object.json(root(call))).header("ETag", object.etag());
  }

  /** Of links and of session addresses: as the client itself calls this server. */
  private static String root(Call call) {
    return "http://" + call.header("Host").orElse("127.0.0.1");
  }
}
