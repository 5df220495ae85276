// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The JSON API of Google Cloud Storage, version 1, as far as the Hadoop connector and Google's
 * Python client use it, and the folders of buckets with hierarchical namespace. There are no object
 * versions, access lists or batches. {@code projection} is ignored but for page sizes. A reply has
 * the {@code fields} that were asked for, and a request that is repeated with its idempotency token
 * its first result.
 *
 * <p>Operations: get, list, insert, upload (a request of a resumable session), move, rewrite, copy,
 * delete, compose, read (the content), patch (also update), bucket, layout, folder-create,
 * folder-get, folder-list, folder-delete, folder-rename, operation, operation-list, and unknown for
 * anything else, which is answered 400.
 */
final class GcsProtocol implements Protocol {
  private static final int MOST_COMPONENTS = 32;

  /** Requests whose tokens count. */
  private static final Set<String> WITH_TOKENS = Set.of("insert", "move", "patch", "delete");

  private final GcsBuckets buckets = new GcsBuckets();
  private final GcsSessions sessions = new GcsSessions();
  private final GcsTokens tokens = new GcsTokens();
  private volatile Onto onto = Onto.CONFLICT;

  /** A project with one bucket that is flat and one that is not. */
  GcsProtocol(String flat, String hierarchical) {
    try {
      buckets.create(flat, false);
      buckets.create(hierarchical, true);
    } catch (GcsException e) {
      throw new IllegalArgumentException("No name for a bucket: " + e.getMessage(), e);
    }
  }

  /** A bucket that is there. */
  GcsBucket bucket(String name) {
    try {
      return buckets.get(name);
    } catch (GcsException e) {
      throw new IllegalArgumentException(name, e);
    }
  }

  void onto(Onto answer) {
    onto = answer;
  }

  /** From now on a repeated request is a new one. */
  void forgetTokens() {
    tokens.forget();
  }

  /** The names in a bucket, each with a leading slash, and the sizes in bytes. */
  Map<String, Long> tree(String bucket) {
    try {
      return buckets.get(bucket).tree();
    } catch (GcsException e) {
      return Map.of();
    }
  }

  @Override
  public Operation classify(Call call) {
    GcsRoute route = GcsRoute.of(call);
    switch (route.target()) {
      case BUCKETS:
      case BUCKET:
        return new Operation("bucket", "/");
      case LAYOUT:
        return new Operation("layout", "/");
      case FOLDERS:
        return route.method().equals("POST")
            ? new Operation("folder-create", "/" + nameOfFolder(call))
            : new Operation(
                route.method().equals("GET") ? "folder-list" : "unknown",
                "/" + call.parameter("prefix").orElse(""));
      case FOLDER:
        return new Operation(onFolder(route.method()), "/" + route.object());
      case FOLDER_RENAME:
        return new Operation("folder-rename", "/" + route.destination());
      case OPERATIONS:
        return new Operation("operation-list", "/");
      case OPERATION:
        return new Operation("operation", "/" + route.object());
      case OBJECTS:
        return classifyObjects(call, route.method());
      case OBJECT:
        return new Operation(onObject(call, route.method()), "/" + route.object());
      case COMPOSE:
        return new Operation("compose", "/" + route.destination());
      case MOVE:
        return new Operation("move", "/" + route.destination());
      case REWRITE:
        return new Operation("rewrite", "/" + route.destination());
      case COPY:
        return new Operation("copy", "/" + route.destination());
      default:
        return new Operation("unknown", call.rawPath());
    }
  }

  private Operation classifyObjects(Call call, String method) {
    Optional<GcsSession> session = call.parameter("upload_id").flatMap(sessions::find);
    if (call.parameter("upload_id").isPresent()) {
      return new Operation("upload", "/" + session.map(GcsSession::object).orElse(""));
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
      return GcsJson.object(call.body()).path("name").asText("");
    } catch (GcsException e) {
      // The answer will say what is wrong; it concerns no folder.
      return "";
    }
  }

  private static String onFolder(String method) {
    switch (method) {
      case "GET":
        return "folder-get";
      case "DELETE":
        return "folder-delete";
      default:
        return "unknown";
    }
  }

  private static String onObject(Call call, String method) {
    switch (method) {
      case "GET":
        return isMedia(call) ? "read" : "get";
      case "PATCH":
      case "PUT":
        return "patch";
      case "DELETE":
        return "delete";
      default:
        return "unknown";
    }
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
      return WITH_TOKENS.contains(request)
          ? tokens.answer(call, () -> answer(call, route, request))
          : answer(call, route, request);
    } catch (GcsException e) {
      return e.reply();
    }
  }

  private Reply answer(Call call, GcsRoute route, String request) throws GcsException {
    if (request.equals("unknown")) {
      throw unknown(call);
    }
    switch (route.target()) {
      case BUCKETS:
        return onBuckets(call, route);
      case BUCKET:
        return onBucket(call, route);
      case LAYOUT:
        return reply(call, GcsBuckets.layout(buckets.get(route.bucket())));
      case FOLDERS:
      case FOLDER:
      case FOLDER_RENAME:
      case OPERATIONS:
      case OPERATION:
        return onFolders(call, route, request);
      case OBJECTS:
        return onObjects(call, route, request);
      case OBJECT:
        return onObject(call, route, request);
      default:
        requirePost(call, route);
        return combine(call, route, request);
    }
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

  private Reply onBuckets(Call call, GcsRoute route) throws GcsException {
    switch (route.method()) {
      case "GET":
        return reply(call, buckets.list(call.parameter("prefix").orElse("")));
      case "POST":
        ObjectNode bucket = GcsJson.object(call.body());
        String name = bucket.path("name").asText("");
        boolean isHierarchical = bucket.at("/hierarchicalNamespace/enabled").asBoolean();
        return reply(call, GcsBuckets.json(buckets.create(name, isHierarchical)));
      default:
        throw unknown(call);
    }
  }

  private Reply onBucket(Call call, GcsRoute route) throws GcsException {
    switch (route.method()) {
      case "GET":
        return reply(call, GcsBuckets.json(buckets.get(route.bucket())));
      case "DELETE":
        buckets.delete(route.bucket());
        return new Reply(204);
      default:
        throw unknown(call);
    }
  }

  private Reply onFolders(Call call, GcsRoute route, String request) throws GcsException {
    GcsBucket bucket = buckets.get(route.bucket());
    String name = route.object();
    ObjectNode json =
        bucket.onFolders(
            (folders, operations) -> {
              switch (request) {
                case "folder-create":
                  String made = nameOfFolder(call);
                  operations.checkUnlocked(made);
                  folders.create(
                      made, call.parameter("recursive").filter("true"::equals).isPresent());
                  return folders.json(made);
                case "folder-get":
                  return folders.json(name);
                case "folder-list":
                  return folders.list(
                      call.parameter("prefix").orElse(""), call.parameter("delimiter"));
                case "folder-delete":
                  operations.checkUnlocked(name);
                  folders.delete(name, bucket.isEmpty(name));
                  return null;
                case "folder-rename":
                  requirePost(call, route);
                  operations.checkUnlocked(name);
                  operations.checkUnlocked(route.destination());
                  String target = folders.target(name, route.destination(), onto, bucket);
                  return operations.begin(name, target, bucket::renameFolder);
                case "operation":
                  return operations.json(name);
                default:
                  return operations.list(call.parameter("filter"));
              }
            });
    return json == null ? new Reply(204) : reply(call, json);
  }

  private Reply onObjects(Call call, GcsRoute route, String request) throws GcsException {
    GcsBucket bucket = buckets.get(route.bucket());
    switch (request) {
      case "list":
        return reply(call, json(bucket.list(GcsListing.of(call)), root(call)));
      case "upload":
        return upload(call, route.method());
      default:
        return insert(call, bucket);
    }
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
    GcsAttributes attributes = upload.attributes(call);
    if (call.parameter("uploadType").filter("resumable"::equals).isPresent()) {
      bucket.checkWrite(name, conditions);
      String id =
          sessions.open(new GcsSession(bucket, name, attributes, upload.hashes(), conditions));
      String location =
          String.format(
              "%s/upload/storage/v1/b/%s/o?uploadType=resumable&upload_id=%s",
              root(call), bucket.name(), id);
      return new Reply(200).header("Location", location).header("X-GUploader-UploadID", id);
    }
    GcsContent content = GcsContent.of(upload.content());
    content.prove(upload.hashes());
    content.prove(GcsHashes.ofHeader(call));
    return object(call, bucket.write(name, content, attributes, conditions));
  }

  private Reply upload(Call call, String method) throws GcsException {
    String id = call.parameter("upload_id").orElse("");
    Optional<GcsSession> session =
        method.equals("DELETE") ? sessions.cancel(id) : sessions.find(id);
    if (session.isEmpty()) {
      throw new GcsException(404, "notFound", "No such upload session: " + id);
    }
    switch (method) {
      case "DELETE":
        return new Reply(499);
      case "PUT":
      case "POST":
        return session.get().put(call, root(call));
      default:
        throw unknown(call);
    }
  }

  private Reply onObject(Call call, GcsRoute route, String request) throws GcsException {
    GcsBucket bucket = buckets.get(route.bucket());
    GcsConditions conditions = GcsConditions.of(call);
    switch (request) {
      case "get":
        return object(call, bucket.read(route.object(), conditions));
      case "read":
        return read(call, bucket.read(route.object(), conditions));
      case "patch":
        return object(
            call, bucket.change(route.object(), change(call, route.method()), conditions));
      default:
        bucket.delete(route.object(), conditions);
        return new Reply(204);
    }
  }

  /** PATCH changes what it names; PUT replaces all. */
  private static GcsChange change(Call call, String method) throws GcsException {
    ObjectNode json = GcsJson.object(call.body());
    return method.equals("PUT")
        ? present -> GcsAttributes.of(json)
        : present -> present.patched(json);
  }

  private static Reply read(Call call, GcsObject object) throws GcsException {
    GcsContent content = object.content();
    ByteRange range =
        ByteRange.of(call.header("Range"), content.length())
            .orElseThrow(() -> GcsException.of(416, ""));
    String hashes =
        "crc32c=" + content.crc32c() + content.md5().map(md5 -> ",md5=" + md5).orElse("");
    Reply reply =
        new Reply(range.isPartial() ? 206 : 200)
            .header("ETag", object.etag())
            .header("X-Goog-Generation", Long.toString(object.generation()))
            .header("X-Goog-Metageneration", Long.toString(object.metageneration()))
            .header("X-Goog-Storage-Class", "STANDARD")
            .header("X-Goog-Stored-Content-Length", Integer.toString(content.length()))
            .header(
                "X-Goog-Stored-Content-Encoding",
                object.attributes().get("contentEncoding", "identity"))
            .header("X-Goog-Hash", hashes);
    if (range.isPartial()) {
      reply.header("Content-Range", range.header(content.length()));
    }
    return reply.body(
        object.attributes().get("contentType", "application/octet-stream"),
        Arrays.copyOfRange(content.bytes(), range.from(), range.to()));
  }

  private Reply combine(Call call, GcsRoute route, String request) throws GcsException {
    GcsBucket bucket = buckets.get(route.bucket());
    switch (request) {
      case "move":
        return object(
            call,
            bucket.move(
                route.object(),
                GcsConditions.ofSource(call),
                route.destination(),
                GcsConditions.of(call)));
      case "compose":
        return object(call, compose(call, bucket, route.destination()));
      case "rewrite":
        GcsObject rewritten = copy(call, bucket, route);
        return reply(call, rewriteResponse(rewritten, root(call)));
      default:
        return object(call, copy(call, bucket, route));
    }
  }

  private GcsObject copy(Call call, GcsBucket bucket, GcsRoute route) throws GcsException {
    GcsObject source = bucket.source(route.object(), GcsConditions.ofSource(call));
    ObjectNode metadata = GcsJson.object(call.body());
    GcsAttributes attributes =
        GcsAttributes.in(metadata) ? GcsAttributes.of(metadata) : source.attributes();
    return buckets
        .get(route.destinationBucket())
        .write(route.destination(), source.content(), attributes, GcsConditions.of(call));
  }

  /** Done at once, however large the object. */
  private static ObjectNode rewriteResponse(GcsObject object, String root) {
    String size = Integer.toString(object.content().length());
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("kind", "storage#rewriteResponse");
    json.put("totalBytesRewritten", size);
    json.put("objectSize", size);
    json.put("done", true);
    json.set("resource", object.json(root));
    return json;
  }

  private static GcsObject compose(Call call, GcsBucket bucket, String destination)
      throws GcsException {
    ObjectNode request = GcsJson.object(call.body());
    JsonNode sources = request.path("sourceObjects");
    if (sources.isEmpty() || sources.size() > MOST_COMPONENTS) {
      throw GcsException.invalid(
          "A compose needs 1 to " + MOST_COMPONENTS + " sources: " + sources.size());
    }
    List<GcsContent> parts = new ArrayList<>();
    for (JsonNode source : sources) {
      GcsConditions conditions =
          GcsConditions.ofComponent(
              number(source.path("generation")),
              number(source.path("objectPreconditions").path("ifGenerationMatch")));
      parts.add(bucket.source(source.path("name").asText(""), conditions).content());
    }
    GcsAttributes attributes = GcsAttributes.of(request.withObject("/destination"));
    return bucket.write(
        destination, GcsContent.composed(parts), attributes, GcsConditions.of(call));
  }

  private static OptionalLong number(JsonNode node) {
    return node.isMissingNode() ? OptionalLong.empty() : OptionalLong.of(node.asLong());
  }

  private static Reply reply(Call call, ObjectNode json) throws GcsException {
    return GcsJson.reply(200, GcsFields.filter(call, json));
  }

  private static Reply object(Call call, GcsObject object) throws GcsException {
    return reply(call, object.json(root(call))).header("ETag", object.etag());
  }

  /** Of links and of session addresses: as the client itself calls this server. */
  private static String root(Call call) {
    return "http://" + call.header("Host").orElse("127.0.0.1");
  }
}
