// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static io.manifestcommitter.emulator.LakefsRequest.array;
import static io.manifestcommitter.emulator.LakefsRequest.json;
import static io.manifestcommitter.emulator.LakefsRequest.object;
import static io.manifestcommitter.emulator.LakefsRequest.text;
import static io.manifestcommitter.emulator.LakefsRequest.tree;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.manifestcommitter.emulator.LakefsTree.Change;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The REST API of lakeFS, version 1, as far as a committer and lakeFS's Python clients use it for
 * branches, objects, commits and merges. There are no tags, imports, pull requests, users or rights
 * but one; commits are named by their whole ids. Beside it is a {@link LakefsGateway} for each
 * repository, which looks at no signatures.
 *
 * <p>Operations: those of {@link LakefsRoute} and of the gateway, and unknown for anything else,
 * which is answered 501.
 */
final class LakefsProtocol implements Protocol {
  static final String KEY = "key";
  static final String SECRET = "secret";

  private static final String CREDENTIALS =
      Base64.getEncoder().encodeToString((KEY + ":" + SECRET).getBytes(StandardCharsets.UTF_8));

  private final Map<String, LakefsGateway> gateways = new ConcurrentHashMap<>();
  private final LakefsAbilities abilities = new LakefsAbilities();
  private final LakefsStorage storage;
  private final LakefsAddresses addresses;
  private final LakefsObjects objects;
  private final InstantSource clock;
  private Pauses pauses = operation -> {};

  LakefsProtocol(LakefsStorage storage, InstantSource clock) {
    this.storage = storage;
    this.addresses = new LakefsAddresses(clock);
    this.objects = new LakefsObjects(storage, addresses, abilities, clock);
    this.clock = clock;
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
    if (gateways.putIfAbsent(name, new LakefsGateway(made, storage, addresses)) != null) {
      throw new LakefsException(409, "repository already exists: not unique");
    }
    return made;
  }

  LakefsRepository repository(String name) throws LakefsException {
    return Optional.ofNullable(gateways.get(name))
        .orElseThrow(() -> LakefsException.missing("repository " + name))
        .repository();
  }

  @Override
  public Operation classify(Call call) {
    LakefsRoute route = LakefsRoute.of(call);
    if (route.operation().equals(LakefsRoute.UNKNOWN)) {
      return gateway(call)
          .map(gateway -> gateway.classify(call))
          .orElseGet(() -> new Operation(LakefsRoute.UNKNOWN, call.rawPath()));
    }
    List<String> path = new ArrayList<>(route.names());
    call.parameter("path").or(() -> call.parameter("prefix")).ifPresent(path::add);
    String named = "/" + String.join("/", path);
    if (route.operation().equals("delete-many")) {
      named = toDelete(call, named);
    }
    return new Operation(route.operation(), named);
  }

  private static String toDelete(Call call, String branch) {
    List<String> named = new ArrayList<>();
    try {
      LakefsRequest.body(call).path("paths").forEach(path -> named.add(path.asText()));
    } catch (LakefsException e) {
      // The answer will say what is wrong; it concerns no object.
      named.clear();
    }
    return branch + "/" + String.join(" " + branch + "/", named);
  }

  @Override
  public Reply refusal(Call call, int status, String code) {
    return gateway(call)
        .map(gateway -> gateway.refusal(call, status, code))
        .orElseGet(
            () -> LakefsException.of(status, LakefsRoute.of(call).operation(), code).reply());
  }

  /** The gateway that a request is for, whose path begins with a repository. */
  private Optional<LakefsGateway> gateway(Call call) {
    return Optional.ofNullable(gateways.get(call.rawPath().substring(1).split("/", 2)[0]));
  }

  @Override
  public Reply answer(Call call) {
    return gateway(call).map(gateway -> gateway.answer(call)).orElseGet(() -> answeredByApi(call));
  }

  private Reply answeredByApi(Call call) {
    if (!call.rawPath().startsWith(LakefsRoute.ROOT)) {
      return S3Exception.of(404, "NoSuchBucket").reply();
    }
    if (LakefsRoute.of(call).operation().equals("healthcheck")) {
      return new Reply(204); // To anyone.
    }
    try {
      if (!call.header("Authorization").orElse("").equals("Basic " + CREDENTIALS)) {
        throw LakefsException.of(401, "", "");
      }
      return answered(call, LakefsRoute.of(call));
    } catch (LakefsException e) {
      return e.reply();
    }
  }

  private Reply answered(Call call, LakefsRoute route) throws LakefsException {
    switch (route.operation()) {
      case LakefsRoute.UNKNOWN:
        throw LakefsException.unknown(call.method() + " " + call.rawPath());
      case "config":
        return json(200, abilities.config());
      case "repository-create":
        JsonNode body = LakefsRequest.body(call);
        return described(201, create(text(body, "name"), text(body, "storage_namespace")));
      default:
        return answered(new LakefsRequest(call, route, repository(route.names().get(0))));
    }
  }

  private Reply answered(LakefsRequest asked) throws LakefsException {
    LakefsRepository repository = asked.repository();
    return switch (asked.route().operation()) {
      case "repository" -> described(200, repository);
      case "protect" -> protect(asked);
      case "branch-list" ->
          asked.page(repository.branches(asked.isSet("show_hidden")), LakefsProtocol::ref);
      case "branch-create" -> createBranch(asked);
      case "branch" -> json(200, ref(asked.ref(), repository.head(asked.ref())));
      case "branch-delete" -> {
        repository.delete(asked.ref());
        yield new Reply(204);
      }
      case "branch-diff" -> changes(asked, repository.staged(asked.ref()));
      case "commit" -> commit(asked);
      case "commit-get" -> json(200, described(repository.commit(asked.ref())));
      case "log" -> log(asked);
      case "diff" -> diff(asked);
      case "merge-base" -> mergeBase(asked);
      case "merge" -> merge(asked);
      default -> objects.answer(asked);
    };
  }

  private static Reply described(int status, LakefsRepository repository) {
    return json(
        status,
        object()
            .put("id", repository.name())
            .put("creation_date", repository.created().getEpochSecond())
            .put("default_branch", LakefsRepository.DEFAULT_BRANCH)
            .put("storage_id", "")
            .put("storage_namespace", repository.namespace())
            .put("read_only", false));
  }

  private static Reply protect(LakefsRequest asked) throws LakefsException {
    List<String> patterns = new ArrayList<>();
    for (JsonNode rule : asked.body()) {
      patterns.add(text(rule, "pattern"));
    }
    asked.repository().protect(patterns);
    return new Reply(204);
  }

  private static Reply createBranch(LakefsRequest asked) throws LakefsException {
    boolean isHidden = asked.body().path("hidden").asBoolean();
    LakefsCommit head =
        asked.repository().create(asked.text("name"), asked.text("source"), isHidden);
    return new Reply(201).body("text/html", head.id().getBytes(StandardCharsets.UTF_8));
  }

  private static ObjectNode ref(String name, LakefsCommit commit) {
    return object().put("id", name).put("commit_id", commit.id());
  }

  private Reply commit(LakefsRequest asked) throws LakefsException {
    long date = asked.body().path("date").asLong(clock.instant().getEpochSecond());
    boolean evenIfEmpty = asked.body().path("allow_empty").asBoolean();
    LakefsCommit made =
        asked
            .repository()
            .commit(asked.ref(), asked.text("message"), asked.map("metadata"), date, evenIfEmpty);
    return json(201, described(made));
  }

  private static ObjectNode described(LakefsCommit commit) {
    ObjectNode node =
        object()
            .put("id", commit.id())
            .put("committer", "emulated")
            .put("message", commit.message())
            .put("creation_date", commit.created())
            .put("meta_range_id", commit.metaRange())
            .put("generation", commit.generation())
            .put("version", 1);
    node.set("parents", tree(commit.parents()));
    node.set("metadata", tree(commit.metadata()));
    return node;
  }

  private static Reply log(LakefsRequest asked) throws LakefsException {
    for (String unknown : List.of("objects", "prefixes", "limit", "first_parent", "since")) {
      if (asked.call().parameter(unknown).isPresent()) {
        throw LakefsException.unknown("a log with " + unknown);
      }
    }
    List<LakefsCommit> log = asked.repository().log(asked.repository().commit(asked.ref()));
    List<String> ids = log.stream().map(LakefsCommit::id).toList();
    int from = ids.indexOf(asked.call().parameter("after").orElse("")) + 1;
    int to = Math.min(from + asked.amount(), log.size());
    ArrayNode results = array();
    log.subList(from, to).forEach(commit -> results.add(described(commit)));
    return LakefsRequest.paged(results, to < log.size() ? ids.get(to - 1) : "");
  }

  private static Reply diff(LakefsRequest asked) throws LakefsException {
    LakefsCommit left = asked.repository().commit(asked.ref());
    LakefsCommit right = asked.repository().commit(asked.other());
    if (asked.call().parameter("type").filter("two_dot"::equals).isPresent()) {
      return changes(asked, left.tree().changesTo(right.tree()));
    }
    LakefsTree base = asked.repository().base(left, right).tree();
    return changes(asked, left.tree().changesBy(right.tree(), base));
  }

  private static Reply changes(LakefsRequest asked, NavigableMap<String, Change> changes)
      throws LakefsException {
    return asked.page(
        changes,
        (path, change) -> {
          ObjectNode node = object().put("path", path).put("path_type", "object");
          change.entry().ifPresent(entry -> node.put("size_bytes", entry.size()));
          return node.put("type", change.type());
        });
  }

  /** Source and destination of the answer are swapped, as observed. */
  private static Reply mergeBase(LakefsRequest asked) throws LakefsException {
    LakefsCommit source = asked.repository().commit(asked.ref());
    LakefsCommit destination = asked.repository().commit(asked.other());
    return json(
        200,
        object()
            .put("source_commit_id", destination.id())
            .put("destination_commit_id", source.id())
            .put("base_commit_id", asked.repository().base(source, destination).id()));
  }

  private Reply merge(LakefsRequest asked) throws LakefsException {
    JsonNode body = asked.body();
    String message = body.path("message").asText("");
    LakefsMerge how =
        new LakefsMerge(
            message.isEmpty() ? "Merge '" + asked.ref() + "'" : message,
            asked.map("metadata"),
            body.path("strategy").asText(""),
            body.path("squash_merge").asBoolean(),
            body.path("allow_empty").asBoolean() || body.path("force").asBoolean());
    how.check();
    LakefsCommit source = asked.repository().commit(asked.ref());
    pauses.at(new Operation("merge-resolved", classify(asked.call()).path()));
    try {
      LakefsCommit made = asked.repository().merge(source, asked.other(), how);
      return json(200, object().put("reference", made.id()));
    } catch (LakefsException e) {
      if (e.status() == 409) {
        return json(409, object().put("reference", ""));
      }
      throw e;
    }
  }

  /** Where a fault rule may hold a request whose first half is done. */
  interface Pauses {
    /** Returns once the request may go on. */
    void at(Operation operation);
  }
}
