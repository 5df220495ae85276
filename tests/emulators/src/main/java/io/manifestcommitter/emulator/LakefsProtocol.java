// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.manifestcommitter.emulator.BucketListing.BucketPage;
import io.manifestcommitter.emulator.LakefsTree.Change;
import io.manifestcommitter.emulator.S3Bucket.S3Object;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.StreamSupport;

/**
 * The REST API of lakeFS, version 1, as far as a committer and lakeFS's Python clients use it for
 * branches, objects, commits and merges. There are no tags, imports, pull requests, users or rights
 * but one; commits are named by their whole ids.
 *
 * <p>Operations: those of {@link LakefsRoute}, and unknown for anything else, which is answered
 * 501.
 */
final class LakefsProtocol implements Protocol {
  static final String KEY = "key";
  static final String SECRET = "secret";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MOST_PER_PAGE = 1000;
  private static final int MOST_DELETED = 1000;
  private static final int MOST_PARTS = 10_000;
  private static final String METADATA = "x-lakefs-meta-";
  private static final String CREDENTIALS =
      "Basic "
          + Base64.getEncoder()
              .encodeToString((KEY + ":" + SECRET).getBytes(StandardCharsets.UTF_8));

  private final Map<String, LakefsRepository> repositories = new ConcurrentHashMap<>();
  private final LakefsStorage storage;
  private final Clock clock;
  private final LakefsAddresses addresses;
  private final LakefsAbilities abilities = new LakefsAbilities();
  private Pauses pauses = operation -> {};

  LakefsProtocol(LakefsStorage storage, Clock clock) {
    this.storage = storage;
    this.clock = clock;
    this.addresses = new LakefsAddresses(clock);
  }

  LakefsAbilities abilities() {
    return abilities;
  }

  /** What can hold a request between its steps. */
  void pauses(Pauses between) {
    pauses = between;
  }

  /**
   * Makes a repository with the branch {@code main}.
   *
   * @param namespace URI of the directory of its objects
   * @throws LakefsException 409 where there is one, 400 for what no object can be written to
   */
  LakefsRepository create(String name, String namespace) throws LakefsException {
    if (!namespace.matches("(s3|local)://.+")) {
      throw LakefsException.invalid("invalid storage namespace: " + namespace);
    }
    LakefsRepository made = new LakefsRepository(name, namespace, clock);
    if (repositories.putIfAbsent(name, made) != null) {
      throw new LakefsException(409, "repository already exists: not unique");
    }
    return made;
  }

  LakefsRepository repository(String name) throws LakefsException {
    return Optional.ofNullable(repositories.get(name))
        .orElseThrow(() -> LakefsException.missing("repository " + name));
  }

  @Override
  public Operation classify(Call call) {
    LakefsRoute route = LakefsRoute.of(call);
    if (route.operation().equals(LakefsRoute.UNKNOWN)) {
      return new Operation(LakefsRoute.UNKNOWN, call.rawPath());
    }
    List<String> path = new ArrayList<>(route.names());
    call.parameter("path").or(() -> call.parameter("prefix")).ifPresent(path::add);
    String named = "/" + String.join("/", path);
    if (route.operation().equals("delete-many")) {
      return new Operation(
          route.operation(), named + "/" + String.join(" " + named + "/", pathsToDelete(call)));
    }
    return new Operation(route.operation(), named);
  }

  private static List<String> pathsToDelete(Call call) {
    try {
      return texts(body(call).path("paths"));
    } catch (LakefsException e) {
      // The answer will say what is wrong; it concerns no object.
      return List.of();
    }
  }

  @Override
  public Reply refusal(Call call, int status, String code) {
    return LakefsException.of(status, LakefsRoute.of(call).operation(), code).reply();
  }

  @Override
  public Reply answer(Call call) {
    try {
      if (!call.header("Authorization").orElse("").equals(CREDENTIALS)) {
        throw LakefsException.of(401, "", "");
      }
      return answered(call, LakefsRoute.of(call));
    } catch (LakefsException e) {
      return e.reply();
    }
  }

  private Reply answered(Call call, LakefsRoute route) throws LakefsException {
    switch (route.operation()) {
      case "config":
        return LakefsException.json(200, abilities.config());
      case "repository-create":
        JsonNode body = body(call);
        return described(201, create(text(body, "name"), text(body, "storage_namespace")));
      case LakefsRoute.UNKNOWN:
        throw LakefsException.unknown(call.method() + " " + call.rawPath());
      default:
        return answered(call, route, repository(route.repository()));
    }
  }

  private Reply answered(Call call, LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    return switch (route.operation()) {
      case "repository" -> described(200, repository);
      case "protect" -> protect(call, repository);
      case "branch-list" -> branches(call, repository);
      case "branch-create" -> createBranch(call, repository);
      case "branch" -> LakefsException.json(200, ref(route.ref(), repository.head(route.ref())));
      case "branch-delete" -> {
        repository.delete(route.ref());
        yield new Reply(204);
      }
      case "branch-diff" -> changes(call, repository.staged(route.ref()));
      case "commit" -> commit(call, route, repository);
      case "commit-get" -> LakefsException.json(200, described(repository.commit(route.ref())));
      case "log" -> log(call, repository.log(repository.commit(route.ref())));
      case "address" -> address(call, route, repository);
      case "link" -> link(call, route, repository);
      case "upload" -> upload(call, route, repository);
      case "upload-complete" -> completeUpload(call, route, repository);
      case "upload-abort" -> {
        storage.abort(uploaded(call, route, repository), route.other());
        yield new Reply(204);
      }
      case "put" -> put(call, route, repository);
      case "delete" -> {
        repository.remove(route.ref(), path(call));
        yield new Reply(204);
      }
      case "delete-many" -> deleteMany(call, route, repository);
      case "get", "head" -> read(call, repository.entry(route.ref(), path(call)));
      case "stat" -> {
        LakefsEntry entry = repository.entry(route.ref(), path(call));
        yield LakefsException.json(200, described(call, path(call), entry));
      }
      case "list" -> list(call, repository.tree(route.ref()));
      case "diff" -> diff(call, route, repository);
      case "merge-base" -> mergeBase(route, repository);
      case "merge" -> merge(call, route, repository);
      default -> throw LakefsException.unknown(route.operation());
    };
  }

  private static Reply described(int status, LakefsRepository repository) {
    return LakefsException.json(
        status,
        JSON.createObjectNode()
            .put("id", repository.name())
            .put("creation_date", repository.created().getEpochSecond())
            .put("default_branch", LakefsRepository.DEFAULT_BRANCH)
            .put("storage_id", "")
            .put("storage_namespace", repository.namespace())
            .put("read_only", false));
  }

  private static Reply protect(Call call, LakefsRepository repository) throws LakefsException {
    List<String> globs = new ArrayList<>();
    for (JsonNode rule : body(call)) {
      globs.add(text(rule, "pattern"));
    }
    repository.protect(globs);
    return new Reply(204);
  }

  private static Reply branches(Call call, LakefsRepository repository) throws LakefsException {
    boolean withHidden = isSet(call, "show_hidden");
    return page(call, repository.branches(withHidden), LakefsProtocol::ref);
  }

  private static Reply createBranch(Call call, LakefsRepository repository) throws LakefsException {
    JsonNode body = body(call);
    LakefsCommit head =
        repository.create(
            text(body, "name"), text(body, "source"), body.path("hidden").asBoolean());
    return new Reply(201).body("text/html", head.id().getBytes(StandardCharsets.UTF_8));
  }

  private static ObjectNode ref(String name, LakefsCommit commit) {
    return JSON.createObjectNode().put("id", name).put("commit_id", commit.id());
  }

  private Reply commit(Call call, LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    JsonNode body = body(call);
    LakefsCommit made =
        repository.commit(
            route.ref(),
            text(body, "message"),
            map(body.path("metadata")),
            body.path("date").asLong(clock.instant().getEpochSecond()),
            body.path("allow_empty").asBoolean());
    return LakefsException.json(201, described(made));
  }

  private static ObjectNode described(LakefsCommit commit) {
    ObjectNode node =
        JSON.createObjectNode()
            .put("id", commit.id())
            .put("committer", "emulated")
            .put("message", commit.message())
            .put("creation_date", commit.created())
            .put("meta_range_id", commit.metaRange())
            .put("generation", commit.generation())
            .put("version", 1);
    node.set("parents", JSON.valueToTree(commit.parents()));
    node.set("metadata", JSON.valueToTree(commit.metadata()));
    return node;
  }

  private static Reply log(Call call, List<LakefsCommit> log) throws LakefsException {
    refuse(call, "objects", "prefixes", "limit", "first_parent", "since", "stop_at");
    String after = call.parameter("after").orElse("");
    List<String> ids = log.stream().map(LakefsCommit::id).toList();
    List<LakefsCommit> rest = log.subList(ids.indexOf(after) + 1, log.size());
    int amount = Math.min(amount(call), rest.size());
    ArrayNode results = JSON.createArrayNode();
    rest.subList(0, amount).forEach(commit -> results.add(described(commit)));
    return paged(results, amount < rest.size() ? rest.get(amount - 1).id() : "");
  }

  /** Also for a branch that is not there. */
  private Reply address(Call call, LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    String address = addresses.signed(repository, route.ref(), path(call));
    ObjectNode node = JSON.createObjectNode().put("physical_address", address);
    if (isSet(call, "presign")) {
      if (!abilities.has(LakefsAbilities.PRESIGN)) {
        throw new LakefsException(500, "operation not supported");
      }
      node.put("presigned_url", storage.presigned(address, ""))
          .put("presigned_url_expiry", storage.expiry());
    }
    return LakefsException.json(200, node);
  }

  /** Whether there is such an object, and such a size and checksum, is not looked at. */
  private Reply link(Call call, LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    JsonNode body = body(call);
    String address = text(body.path("staging"), "physical_address");
    addresses.check(address, repository, route.ref(), path(call));
    String checksum = text(body, "checksum").replaceAll("[\" ]", "");
    if (checksum.isEmpty()) {
      throw LakefsException.invalid("checksum is required");
    }
    LakefsEntry entry =
        new LakefsEntry(
            address,
            checksum,
            body.path("size_bytes").asLong(),
            body.path("mtime").asLong(clock.instant().getEpochSecond()),
            map(body.path("user_metadata")),
            body.path("content_type").asText(""));
    repository.stage(route.ref(), path(call), entry, onlyIfNew(call));
    return LakefsException.json(200, described(call, path(call), entry));
  }

  private Reply upload(Call call, LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    requireUploads();
    repository.head(route.ref());
    int parts = Integer.parseInt(call.parameter("parts").orElse("0"));
    if (parts < 0 || parts > MOST_PARTS) {
      throw LakefsException.invalid("parts can be between 0 and " + MOST_PARTS);
    }
    String address = addresses.signed(repository, route.ref(), path(call));
    String upload = storage.initiate(address);
    ObjectNode node =
        JSON.createObjectNode().put("upload_id", upload).put("physical_address", address);
    ArrayNode urls = node.putArray("presigned_urls");
    for (int part = 1; part <= parts; part++) {
      urls.add(storage.presigned(address, "partNumber=" + part + "&uploadId=" + upload + "&"));
    }
    return LakefsException.json(201, node);
  }

  private Reply completeUpload(Call call, LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    String address = uploaded(call, route, repository);
    List<Map.Entry<Integer, String>> parts = new ArrayList<>();
    for (JsonNode part : body(call).path("parts")) {
      parts.add(Map.entry(part.path("part_number").asInt(), text(part, "etag").replace("\"", "")));
    }
    if (parts.isEmpty()) {
      throw LakefsException.invalid("parts are required");
    }
    S3Object object = storage.complete(address, route.other(), parts);
    LakefsEntry entry =
        new LakefsEntry(
            address,
            object.etag(),
            object.length(),
            clock.instant().getEpochSecond(),
            map(body(call).path("user_metadata")),
            body(call).path("content_type").asText(""));
    repository.stage(route.ref(), path(call), entry, /* onlyIfNew= */ false);
    return LakefsException.json(200, described(call, path(call), entry));
  }

  /** The address of an upload, which was given for this path. */
  private String uploaded(Call call, LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    requireUploads();
    String address = text(body(call), "physical_address");
    if (!address.startsWith(repository.namespace())) {
      throw LakefsException.invalid("physical address must be relative to the storage namespace");
    }
    addresses.check(address, repository, route.ref(), path(call));
    return address;
  }

  private void requireUploads() throws LakefsException {
    if (!abilities.has(LakefsAbilities.PRESIGN_PARTS)) {
      throw new LakefsException(501, "presign multipart upload API is not supported");
    }
  }

  private Reply put(Call call, LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    repository.head(route.ref());
    boolean onlyIfNew = onlyIfNew(call);
    FormPart content = FormPart.content(call);
    String address = addresses.unsigned(repository);
    Map<String, String> metadata = new TreeMap<>();
    call.headers()
        .forEach(
            (header, value) -> {
              if (header.startsWith(METADATA)) {
                metadata.put(header.substring(METADATA.length()), value);
              }
            });
    LakefsEntry entry =
        new LakefsEntry(
            address,
            storage.write(address, content.bytes()),
            content.bytes().length,
            clock.instant().getEpochSecond(),
            metadata,
            content.type());
    repository.stage(route.ref(), path(call), entry, onlyIfNew);
    return LakefsException.json(201, described(call, path(call), entry));
  }

  /** Done one after the other. What goes wrong with one is told inside; a missing branch is not. */
  private static Reply deleteMany(Call call, LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    List<String> paths = texts(body(call).path("paths"));
    if (paths.size() > MOST_DELETED) {
      throw LakefsException.invalid("request size exceeded, max paths is set to " + MOST_DELETED);
    }
    ArrayNode errors = JSON.createArrayNode();
    for (String path : paths) {
      try {
        repository.remove(route.ref(), path);
      } catch (LakefsException e) {
        if (e.status() != 404) {
          errors
              .addObject()
              .put("path", path)
              .put("status_code", e.status())
              .put("message", e.getMessage());
        }
      }
    }
    return LakefsException.json(200, JSON.createObjectNode().set("errors", errors));
  }

  private Reply read(Call call, LakefsEntry entry) throws LakefsException {
    if (isSet(call, "presign")) {
      return new Reply(302).header("Location", storage.presigned(entry.address(), ""));
    }
    ByteRange range =
        ByteRange.of(call.header("Range"), (int) entry.size())
            .orElseThrow(() -> new LakefsException(416, "Requested Range Not Satisfiable"));
    Reply reply =
        new Reply(range.isPartial() ? 206 : 200)
            .header("ETag", '"' + entry.checksum() + '"')
            .header("Last-Modified", HttpTimes.header(Instant.ofEpochSecond(entry.modified())));
    if (range.isPartial()) {
      reply.header("Content-Range", range.header((int) entry.size()));
    }
    int length = range.to() - range.from();
    if (call.method().equals("HEAD")) {
      return reply.header("Content-Length", Integer.toString(length));
    }
    byte[] content = storage.read(entry.address());
    if (content.length < range.to()) {
      // The service breaks off in the middle of the body.
      throw new LakefsException(500, "unexpected EOF: the object is shorter than its entry says");
    }
    return reply.body(entry.contentType(), Arrays.copyOfRange(content, range.from(), range.to()));
  }

  private Reply list(Call call, LakefsTree tree) throws LakefsException {
    return page(call, tree.entries(), (path, entry) -> described(call, path, entry));
  }

  private ObjectNode described(Call call, String path, LakefsEntry entry) throws LakefsException {
    ObjectNode node =
        JSON.createObjectNode()
            .put("path", path)
            .put("path_type", "object")
            .put("physical_address", entry.address())
            .put("checksum", entry.checksum())
            .put("size_bytes", entry.size())
            .put("mtime", entry.modified())
            .put("content_type", entry.contentType());
    node.set("metadata", JSON.valueToTree(entry.metadata()));
    if (isSet(call, "presign") && abilities.has(LakefsAbilities.PRESIGN)) {
      node.put("physical_address", storage.presigned(entry.address(), ""))
          .put("physical_address_expiry", storage.expiry());
    }
    return node;
  }

  private static Reply diff(Call call, LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    LakefsCommit left = repository.commit(route.ref());
    LakefsCommit right = repository.commit(route.other());
    String type = call.parameter("type").orElse("three_dot");
    return changes(
        call,
        type.equals("two_dot")
            ? left.tree().changesTo(right.tree())
            : left.tree().changesBy(right.tree(), repository.base(left, right).tree()));
  }

  private static Reply changes(Call call, NavigableMap<String, Change> changes)
      throws LakefsException {
    return page(
        call,
        changes,
        (path, change) -> {
          ObjectNode node =
              JSON.createObjectNode()
                  .put("type", change.type())
                  .put("path", path)
                  .put("path_type", "object");
          change.entry().ifPresent(entry -> node.put("size_bytes", entry.size()));
          return node;
        });
  }

  /** Source and destination of the answer are swapped, as observed. */
  private static Reply mergeBase(LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    LakefsCommit source = repository.commit(route.ref());
    LakefsCommit destination = repository.commit(route.other());
    return LakefsException.json(
        200,
        JSON.createObjectNode()
            .put("source_commit_id", destination.id())
            .put("destination_commit_id", source.id())
            .put("base_commit_id", repository.base(source, destination).id()));
  }

  private Reply merge(Call call, LakefsRoute route, LakefsRepository repository)
      throws LakefsException {
    JsonNode body = body(call);
    String source = route.ref();
    String destination = route.other();
    String usual = "Merge '" + source + "' into '" + destination + "'";
    LakefsMerge how =
        new LakefsMerge(
            body.path("message").asText("").isEmpty() ? usual : body.path("message").asText(),
            map(body.path("metadata")),
            body.path("strategy").asText(""),
            body.path("squash_merge").asBoolean(),
            body.path("allow_empty").asBoolean() || body.path("force").asBoolean());
    how.check();
    repository.head(destination);
    LakefsCommit resolved = repository.commit(source);
    pauses.at(new Operation("merge-resolved", classify(call).path()));
    ObjectNode answer = JSON.createObjectNode();
    try {
      LakefsCommit made = repository.merge(resolved, destination, how);
      return LakefsException.json(200, answer.put("reference", made.id()));
    } catch (LakefsException e) {
      if (e.status() == 409) {
        return LakefsException.json(409, answer.put("reference", ""));
      }
      throw e;
    }
  }

  private static <T> Reply page(Call call, NavigableMap<String, T> all, Described<T> described)
      throws LakefsException {
    String delimiter = call.parameter("delimiter").orElse("");
    Optional<String> after = call.parameter("after").filter(path -> !path.isEmpty());
    BucketPage<T> page =
        new BucketListing(call.parameter("prefix").orElse(""), delimiter, "", amount(call), after)
            .page(all);
    NavigableMap<String, ObjectNode> results = new TreeMap<>(new BucketListing.BucketOrder());
    for (Map.Entry<String, T> item : page.items().entrySet()) {
      results.put(item.getKey(), described.as(item.getKey(), item.getValue()));
    }
    for (String prefix : page.prefixes()) {
      results.put(
          prefix,
          JSON.createObjectNode()
              .put("path", prefix)
              .put("path_type", "common_prefix")
              .put("type", "prefix_changed")
              .put("physical_address", "")
              .put("checksum", "")
              .put("mtime", 0));
    }
    ArrayNode nodes = JSON.createArrayNode().addAll(results.values());
    return paged(nodes, page.token().isPresent() ? results.lastKey() : "");
  }

  /** The page, and what the next one is asked for with: empty on the last. */
  private static Reply paged(ArrayNode results, String next) {
    ObjectNode node = JSON.createObjectNode();
    node.putObject("pagination")
        .put("has_more", !next.isEmpty())
        .put("next_offset", next)
        .put("results", results.size())
        .put("max_per_page", MOST_PER_PAGE);
    node.set("results", results);
    return LakefsException.json(200, node);
  }

  /** A hundred, unless told; more than a thousand is refused. */
  private static int amount(Call call) throws LakefsException {
    String amount = call.parameter("amount").orElse("100");
    if (!amount.matches("-1|\\d{1,4}") || Integer.parseInt(amount) > MOST_PER_PAGE) {
      throw LakefsException.invalid("amount: number must be -1 to " + MOST_PER_PAGE);
    }
    int asked = Integer.parseInt(amount);
    return asked < 1 ? 100 : asked;
  }

  /** Whether the path must not be there; {@code If-Match} is not implemented by the service. */
  private static boolean onlyIfNew(Call call) throws LakefsException {
    Optional<String> noneMatch = call.header("If-None-Match");
    if (call.header("If-Match").isPresent() || noneMatch.filter(x -> !x.equals("*")).isPresent()) {
      throw new LakefsException(501, "Not Implemented");
    }
    return noneMatch.isPresent();
  }

  private static String path(Call call) throws LakefsException {
    return call.parameter("path")
        .filter(path -> !path.isEmpty())
        .orElseThrow(() -> LakefsException.invalid("argument path: required value"));
  }

  private static boolean isSet(Call call, String parameter) {
    return call.parameter(parameter).filter("true"::equalsIgnoreCase).isPresent();
  }

  private static void refuse(Call call, String... parameters) throws LakefsException {
    for (String parameter : parameters) {
      if (call.parameter(parameter).isPresent()) {
        throw LakefsException.unknown("the parameter " + parameter);
      }
    }
  }

  private static JsonNode body(Call call) throws LakefsException {
    try {
      return call.body().length == 0 ? JSON.createObjectNode() : JSON.readTree(call.body());
    } catch (IOException e) {
      throw LakefsException.invalid("request body has an error: " + e.getMessage());
    }
  }

  private static String text(JsonNode body, String field) throws LakefsException {
    if (!body.path(field).isTextual()) {
      throw LakefsException.invalid("request body has an error: property \"" + field + "\"");
    }
    return body.path(field).asText();
  }

  private static List<String> texts(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).map(JsonNode::asText).toList();
  }

  private static Map<String, String> map(JsonNode object) {
    Map<String, String> map = new TreeMap<>();
    object.fields().forEachRemaining(each -> map.put(each.getKey(), each.getValue().asText()));
    return map;
  }

  /** How an item of a page is told. */
  private interface Described<T> {
    ObjectNode as(String name, T item) throws LakefsException;
  }

  /** Where a fault rule may hold a request whose first half is done. */
  interface Pauses {
    /** Returns once the request may go on. */
    void at(Operation operation);
  }
}
