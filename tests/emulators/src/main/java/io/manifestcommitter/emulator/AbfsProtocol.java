// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.manifestcommitter.emulator.AbfsNode.AbfsConditions;
import io.manifestcommitter.emulator.AbfsNode.AbfsFailure;
import io.manifestcommitter.emulator.Protocol.Operation;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The DFS endpoint of ADLS Gen2, at {@code /account/filesystem/path}: the requests of hadoop-azure
 * with a hierarchical namespace, and those by which the official Python client reads, which go to
 * the Blob endpoint. All accounts are one. Credentials are not looked at.
 *
 * <p>Conditions on times and leases are refused as unknown: the driver uses neither unless told to.
 */
final class AbfsProtocol implements Protocol {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String VERSION = "2023-11-03";
  private static final int LIST_MAXIMUM = 5000;
  private static final int USUAL_UMASK = 0027;

  /** Who a shared key is. */
  private static final String SUPERUSER = "$superuser";

  private static final List<String> UNKNOWN_HEADERS =
      List.of(
          "If-Modified-Since",
          "If-Unmodified-Since",
          "x-ms-source-if-modified-since",
          "x-ms-source-if-unmodified-since",
          "x-ms-lease-id",
          "x-ms-lease-action",
          "x-ms-source-lease-id");

  private final String filesystem;
  private final AbfsTree tree = new AbfsTree();
  private volatile Onto onto = Onto.NESTS;
  private volatile boolean flat;
  private volatile int deletePage = Integer.MAX_VALUE;

  /** A store with one empty filesystem. */
  AbfsProtocol(String filesystem) {
    this.filesystem = filesystem;
  }

  void onto(Onto answer) {
    onto = answer;
  }

  AbfsTree tree() {
    return tree;
  }

  void flat(boolean answer) {
    flat = answer;
  }

  void deletePage(int paths) {
    deletePage = paths;
  }

  @Override
  public Operation classify(Call call) {
    Request request = new Request(call);
    return new Operation(request.operation(), request.classified().toString());
  }

  @Override
  public Reply answer(Call call) {
    Request request = new Request(call);
    try {
      for (String header : UNKNOWN_HEADERS) {
        // The Python client sends empty ones.
        if (!call.header(header).orElse("").isEmpty()) {
          throw new AbfsFailure(
              501, "UnsupportedHeader", "The emulator does not know the header " + header + ".");
        }
      }
      return request.answer();
    } catch (AbfsFailure failure) {
      Reply reply = error(call, failure.status(), failure.code(), failure.getMessage());
      return failure.existing().isEmpty()
          ? reply
          : reply.header("x-ms-existing-resource-type", failure.existing());
    }
  }

  @Override
  public Reply refusal(Call call, int status, String code) {
    String name = code.isEmpty() ? usualCode(new Request(call).operation(), status) : code;
    return error(call, status, name, message(name));
  }

  private static String usualCode(String operation, int status) {
    return switch (status) {
      case 400 -> "InvalidInput";
      case 401 -> "InvalidAuthenticationInfo";
      case 403 -> "AuthorizationPermissionMismatch";
      case 404 -> operation.equals("rename") ? "SourcePathNotFound" : "PathNotFound";
      case 409 -> "PathAlreadyExists";
      case 412 -> "ConditionNotMet";
      case 429 -> "TooManyRequests";
      case 500 -> "InternalError";
      case 503 -> "ServerBusy";
      default -> "Status" + status;
    };
  }

  private static String message(String code) {
    return switch (code) {
      case "ServerBusy" -> {
        // The driver tells ingress, egress and operations apart by this text.
        yield "Operations per second is over the account limit.";
      }
      case "RenameDestinationParentPathNotFound" ->
          "The parent directory of the destination path does not exist.";
      case "SourcePathNotFound" -> "The source path for a rename operation does not exist.";
      case "PathNotFound" -> "The specified path does not exist.";
      case "PathAlreadyExists" -> "The specified path already exists.";
      default -> "A fault rule asked for " + code + ".";
    };
  }

  private static Reply reply(int status) {
    return new Reply(status)
        .header("x-ms-request-id", UUID.randomUUID().toString())
        .header("x-ms-version", VERSION);
  }

  private static Reply error(Call call, int status, String code, String message) {
    Reply reply = reply(status).header("x-ms-error-code", code);
    if (call.method().equals("HEAD")) {
      return reply;
    }
    ObjectNode body = JSON.createObjectNode();
    body.putObject("error").put("code", code).put("message", message);
    return reply.body("application/json;charset=utf-8", bytes(body));
  }

  private static byte[] bytes(ObjectNode body) {
    try {
      return JSON.writeValueAsBytes(body);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** One request, taken apart. */
  private final class Request {
    private final Call call;
    private final String method;
    private final String asked;
    private final AbfsPath path;

    Request(Call call) {
      this.call = call;
      this.method = call.header("X-HTTP-Method-Override").orElse(call.method());
      List<String> segments = AbfsPath.of(Call.decodePath(call.rawPath())).names();
      // The first segment is the account.
      this.asked = segments.size() > 1 ? segments.get(1) : "";
      this.path =
          segments.size() > 2
              ? AbfsPath.of(String.join("/", segments.subList(2, segments.size())))
              : AbfsPath.ROOT;
    }

    String operation() {
      String resource = parameter("resource");
      String action = parameter("action");
      if (resource.equals("filesystem") || parameter("restype").equals("container")) {
        return method.equals("GET") && resource.equals("filesystem") ? "list" : "filesystem";
      }
      if (method.equals("PUT") && call.header("x-ms-rename-source").isPresent()) {
        return "rename";
      }
      return switch (method) {
        case "PUT" ->
            switch (resource) {
              case "directory" -> "mkdirs";
              case "file" -> "create";
              default -> "unknown";
            };
        case "PATCH" -> List.of("append", "flush").contains(action) ? action : "unknown";
        case "HEAD" ->
            switch (action) {
              case "", "getStatus" -> "status";
              case "getAccessControl", "checkAccess" -> "acl";
              default -> "unknown";
            };
        case "GET" -> call.query().containsKey("comp") ? "unknown" : "read";
        case "DELETE" -> "delete";
        default -> "unknown";
      };
    }

    /** The path that the operation is about. */
    AbfsPath classified() {
      return operation().equals("list") ? AbfsPath.of(parameter("directory")) : path;
    }

    Reply answer() {
      return switch (operation()) {
        case "filesystem" -> filesystem();
        case "list" -> list();
        case "rename" -> rename();
        case "mkdirs" -> written(201, requireTree().mkdirs(path, conditions(), attributes()));
        case "create" -> written(201, requireTree().create(path, conditions(), attributes()));
        case "append" -> append();
        case "flush" -> flush(number("position"));
        case "status" -> described(reply(200), requireTree().status(path, conditions()));
        case "acl" -> access();
        case "read" -> read();
        case "delete" -> delete();
        default -> throw unknown();
      };
    }

    private Reply filesystem() {
      if (!method.equals("HEAD") && !method.equals("GET")) {
        throw unknown();
      }
      return written(200, requireTree().status(AbfsPath.ROOT, conditions()))
          .header("x-ms-namespace-enabled", Boolean.toString(!flat));
    }

    private Reply list() {
      AbfsPath directory = classified();
      int atMost =
          call.parameter("maxResults")
              .map(text -> (int) Math.min(LIST_MAXIMUM, number("maxResults")))
              .orElse(LIST_MAXIMUM);
      AbfsTree.Page page =
          requireTree()
              .list(directory, flag("recursive"), atMost, continuation().map(AbfsPath::of));
      ObjectNode body = JSON.createObjectNode();
      ArrayNode paths = body.putArray("paths");
      // The service sends numbers and booleans as text.
      for (AbfsTree.Snapshot entry : page.entries()) {
        ObjectNode node = paths.addObject().put("name", entry.path().relative());
        if (entry.isDirectory()) {
          node.put("isDirectory", "true");
        }
        node.put("contentLength", Integer.toString(entry.content().length))
            .put("etag", entry.etag())
            .put("lastModified", HttpTimes.header(entry.modified()))
            .put("owner", SUPERUSER)
            .put("group", SUPERUSER)
            .put("permissions", entry.permissions());
      }
      Reply reply = reply(200).body("application/json;charset=utf-8", bytes(body));
      page.last().ifPresent(last -> reply.header("x-ms-continuation", token(last.relative())));
      return reply;
    }

    private Reply rename() {
      String source = header("x-ms-rename-source");
      int query = source.indexOf('?');
      List<String> segments =
          AbfsPath.of(Call.decodePath(query < 0 ? source : source.substring(0, query))).names();
      if (segments.size() < 2 || !segments.get(0).equals(asked)) {
        throw new AbfsFailure(
            400,
            "InvalidSourceUri",
            "The source of a rename is not /filesystem/path in this filesystem: " + source);
      }
      return written(
          201,
          requireTree()
              .rename(
                  AbfsPath.of(String.join("/", segments.subList(1, segments.size()))),
                  AbfsConditions.ofSource(call),
                  path,
                  conditions(),
                  onto,
                  header("x-ms-client-transaction-id")));
    }

    private Reply append() {
      long position = number("position");
      requireTree().append(path, position, call.body());
      if (flag("flush")) {
        return flush(position + call.body().length);
      }
      return reply(202).header("x-ms-request-server-encrypted", "true");
    }

    private Reply flush(long length) {
      AbfsTree.Snapshot flushed =
          requireTree().flush(path, length, conditions(), flag("retainUncommittedData"));
      int status = operation().equals("append") ? 202 : 200;
      return written(status, flushed).header("x-ms-request-server-encrypted", "true");
    }

    private Reply access() {
      if (flat) {
        throw new AbfsFailure(
            400,
            "HierarchicalNamespaceNotEnabled",
            "The operation needs an account with hierarchical namespace.");
      }
      AbfsTree.Snapshot snapshot = requireTree().status(path, conditions());
      Reply reply = described(reply(200), snapshot);
      String acl = snapshot.permissions().replaceFirst("(...)(...)", "user::$1,group::$2,other::");
      return parameter("action").equals("getAccessControl") ? reply.header("x-ms-acl", acl) : reply;
    }

    private Reply read() {
      AbfsTree.Snapshot snapshot = requireTree().status(path, conditions());
      if (snapshot.isDirectory()) {
        throw new AbfsFailure(
            409, "ResourceTypeMismatch", "A directory cannot be read: " + path + ".");
      }
      byte[] content = snapshot.content();
      ByteRange range =
          ByteRange.of(call.header("x-ms-range").or(() -> call.header("Range")), content.length)
              .orElseThrow(
                  () ->
                      new AbfsFailure(
                          416,
                          "InvalidRange",
                          "The range specified is invalid for this resource."));
      if (!range.isPartial()) {
        return described(reply(200), snapshot).body("application/octet-stream", content);
      }
      return described(reply(206), snapshot)
          .header("Content-Range", range.header(content.length))
          .body("application/octet-stream", Arrays.copyOfRange(content, range.from(), range.to()));
    }

    private Reply delete() {
      boolean recursive = flag("recursive");
      int atMost = recursive && flag("paginated") ? deletePage : Integer.MAX_VALUE;
      boolean more = requireTree().delete(path, conditions(), recursive, atMost);
      return more ? reply(200).header("x-ms-continuation", token("more")) : reply(200);
    }

    private AbfsTree requireTree() {
      if (!asked.equals(filesystem)) {
        throw new AbfsFailure(
            404, "FilesystemNotFound", "The specified filesystem does not exist.");
      }
      return tree;
    }

    private AbfsFailure unknown() {
      return new AbfsFailure(
          501,
          "UnsupportedRequest",
          "The emulator does not know " + method + " " + call.rawPath() + " " + call.query());
    }

    private AbfsTree.Attributes attributes() {
      return new AbfsTree.Attributes(
          call.header("x-ms-permissions").map(AbfsNode::parseMode),
          call.header("x-ms-umask").map(AbfsNode::parseMode).orElse(USUAL_UMASK),
          header("x-ms-client-transaction-id"));
    }

    private AbfsConditions conditions() {
      return AbfsConditions.of(call);
    }

    private Optional<String> continuation() {
      return call.parameter("continuation")
          .filter(token -> !token.isEmpty())
          .map(token -> new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8));
    }

    private String parameter(String name) {
      return call.parameter(name).orElse("");
    }

    private String header(String name) {
      return call.header(name).orElse("");
    }

    private boolean flag(String name) {
      return parameter(name).equalsIgnoreCase("true");
    }

    private long number(String name) {
      String text = parameter(name);
      if (!text.matches("\\d{1,18}")) {
        throw new AbfsFailure(
            400, "InvalidQueryParameterValue", "Not a number: " + name + "=" + text);
      }
      return Long.parseLong(text);
    }
  }

  private static Reply written(int status, AbfsTree.Snapshot snapshot) {
    return reply(status)
        .header("ETag", quoted(snapshot))
        .header("Last-Modified", HttpTimes.header(snapshot.modified()));
  }

  private static Reply described(Reply reply, AbfsTree.Snapshot snapshot) {
    reply
        .header("ETag", quoted(snapshot))
        .header("Last-Modified", HttpTimes.header(snapshot.modified()))
        .header("Content-Length", Integer.toString(snapshot.content().length))
        .header("x-ms-creation-time", HttpTimes.header(snapshot.created()))
        .header("x-ms-resource-type", (snapshot.isDirectory() ? "directory" : "file"))
        .header("x-ms-owner", SUPERUSER)
        .header("x-ms-group", SUPERUSER)
        .header("x-ms-permissions", snapshot.permissions())
        .header("x-ms-lease-status", "unlocked")
        .header("x-ms-lease-state", "available")
        // The two by which the Blob endpoint tells what a path is.
        .header("x-ms-blob-type", "BlockBlob");
    if (snapshot.isDirectory()) {
      reply.header("x-ms-meta-hdi_isfolder", "true");
    }
    return snapshot.transaction().isEmpty()
        ? reply
        : reply.header("x-ms-client-transaction-id", snapshot.transaction());
  }

  private static String quoted(AbfsTree.Snapshot snapshot) {
    return '"' + snapshot.etag() + '"';
  }

  private static String token(String text) {
    return Base64.getUrlEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
