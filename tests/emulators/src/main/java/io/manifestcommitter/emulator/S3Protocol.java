// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.BucketListing.BucketPage;
import io.manifestcommitter.emulator.Protocol.Operation;
import io.manifestcommitter.emulator.S3Body.S3Hashes;
import io.manifestcommitter.emulator.S3Bucket.S3Object;
import io.manifestcommitter.emulator.S3Bucket.S3Upload;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.w3c.dom.Element;

/**
 * The REST API of Amazon S3 with one general purpose bucket, named in the path, as far as
 * hadoop-aws and boto3 use it. Signatures are not looked at, but presigned URLs expire. There are
 * no versions, tags, access lists, leases or storage classes.
 *
 * <p>Operations: get, head, put, copy, delete, delete-many, list, initiate, part, complete, abort,
 * list-uploads, bucket; other-bucket, which is answered 404; and unknown for anything else, which
 * is answered 501.
 */
final class S3Protocol implements Protocol {
  private static final int MOST_KEYS = 1000;

  /** What describes an object and comes back with it, beside {@code x-amz-meta-}. */
  private static final Set<String> DESCRIBING =
      Set.of("cache-control", "content-disposition", "content-language", "content-type", "expires");

  /** Parameters that mean another request than the one without them. */
  private static final Set<String> OTHER_REQUESTS =
      Set.of(
          "acl",
          "attributes",
          "legal-hold",
          "lifecycle",
          "object-lock",
          "policy",
          "restore",
          "retention",
          "select",
          "tagging",
          "torrent",
          "versionId",
          "versioning",
          "versions");

  private static final DateTimeFormatter PRESIGNED_AT =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  private final String name;
  private final S3Bucket bucket;
  private volatile InstantSource clock = InstantSource.system();

  S3Protocol(String name, S3Bucket bucket) {
    this.name = name;
    this.bucket = bucket;
  }

  S3Bucket bucket() {
    return bucket;
  }

  /** By which presigned URLs expire. */
  void clock(InstantSource newClock) {
    clock = newClock;
  }

  /** What makes a URL a presigned one, with more parameters. */
  static String presigned(String parameters, Instant from, Duration lifetime) {
    return String.format(
        "?%sX-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=%s&X-Amz-Expires=%d&X-Amz-Signature=none",
        parameters, PRESIGNED_AT.format(from), lifetime.toSeconds());
  }

  private void checkExpiry(Call call) throws S3Exception {
    Optional<String> lifetime = call.parameter("X-Amz-Expires");
    if (lifetime.isPresent()) {
      Instant from = PRESIGNED_AT.parse(call.parameter("X-Amz-Date").orElse(""), Instant::from);
      if (clock.instant().isAfter(from.plusSeconds(Long.parseLong(lifetime.get())))) {
        throw new S3Exception(403, "AccessDenied", "Request has expired");
      }
    }
  }

  @Override
  public Operation classify(Call call) {
    if (!isOfBucket(call)) {
      return new Operation("other-bucket", call.rawPath());
    }
    String key = key(call);
    String operation = operation(call, key);
    return switch (operation) {
      case "unknown" -> new Operation(operation, call.rawPath());
      case "list", "list-uploads" ->
          new Operation(operation, "/" + call.parameter("prefix").orElse(""));
      case "delete-many" -> new Operation(operation, "/" + String.join(" /", keysToDelete(call)));
      default -> new Operation(operation, "/" + key);
    };
  }

  private static String operation(Call call, String key) {
    if (!Collections.disjoint(call.query().keySet(), OTHER_REQUESTS)) {
      return "unknown";
    }
    if (key.isEmpty()) {
      return onBucket(call);
    }
    boolean hasUpload = call.parameter("uploadId").isPresent();
    boolean isCopy = call.header("x-amz-copy-source").isPresent();
    return switch (call.method()) {
      case "GET" -> hasUpload ? "unknown" : "get";
      case "HEAD" -> "head";
      case "PUT" -> hasUpload ? (isCopy ? "unknown" : "part") : (isCopy ? "copy" : "put");
      case "POST" ->
          hasUpload ? "complete" : call.parameter("uploads").isPresent() ? "initiate" : "unknown";
      case "DELETE" -> hasUpload ? "abort" : "delete";
      default -> "unknown";
    };
  }

  private static String onBucket(Call call) {
    if (call.method().equals("GET") && call.parameter("uploads").isPresent()) {
      return "list-uploads";
    }
    return switch (call.method()) {
      case "GET" -> call.parameter("location").isPresent() ? "bucket" : "list";
      case "HEAD" -> "bucket";
      case "POST" -> call.parameter("delete").isPresent() ? "delete-many" : "unknown";
      default -> "unknown";
    };
  }

  private boolean isOfBucket(Call call) {
    return (call.rawPath() + "/").startsWith("/" + name + "/");
  }

  /** Decoded; empty for the bucket itself. */
  private static String key(Call call) {
    String path = call.rawPath().substring(1);
    int slash = path.indexOf('/');
    return slash < 0 ? "" : Call.decodePath(path.substring(slash + 1));
  }

  private static List<String> keysToDelete(Call call) {
    try {
      List<String> keys = new ArrayList<>();
      for (Element object : S3Xml.all(S3Xml.parse(call.body()), "Object")) {
        keys.add(S3Xml.text(object, "Key"));
      }
      return keys;
    } catch (S3Exception e) {
      // The answer will say what is wrong; it concerns no object.
      return List.of();
    }
  }

  @Override
  public Reply refusal(Call call, int status, String code) {
    return traced(S3Exception.of(status, code).reply());
  }

  @Override
  public Reply answer(Call call) {
    try {
      return traced(answered(call));
    } catch (S3Exception e) {
      return traced(e.reply());
    }
  }

  private static Reply traced(Reply reply) {
    return reply.header("x-amz-request-id", UUID.randomUUID().toString());
  }

  private Reply answered(Call call) throws S3Exception {
    String path = call.rawPath();
    if (!isOfBucket(call)) {
      throw new S3Exception(404, "NoSuchBucket", "The specified bucket does not exist: " + path);
    }
    checkExpiry(call);
    String key = key(call);
    String upload = call.parameter("uploadId").orElse("");
    return switch (operation(call, key)) {
      case "bucket" -> bucket(call);
      case "list" -> list(call);
      case "get", "head" -> read(call, key);
      case "put" -> put(call, key);
      case "copy" -> copy(call, key);
      case "delete" -> {
        requireNoConditions(call);
        bucket.delete(key);
        yield new Reply(204);
      }
      case "delete-many" -> deleteMany(call);
      case "initiate" ->
          S3Xml.document("InitiateMultipartUploadResult")
              .text("Bucket", name)
              .text("Key", key)
              .text("UploadId", bucket.initiate(key, described(call)))
              .reply(200);
      case "part" ->
          new Reply(200)
              .header("ETag", bucket.part(key, upload, number(call), S3Body.of(call)).quotedEtag());
      case "complete" -> complete(call, key, upload);
      case "abort" -> {
        bucket.abort(key, upload);
        yield new Reply(204);
      }
      case "list-uploads" -> uploads(call);
      default ->
          throw S3Exception.unknown(call.method() + " " + path + " " + call.query().keySet());
    };
  }

  private static Reply bucket(Call call) {
    // The one region whose constraint is empty.
    return call.method().equals("HEAD")
        ? new Reply(200).header("x-amz-bucket-region", "us-east-1")
        : S3Xml.document("LocationConstraint").reply(200);
  }

  private Reply list(Call call) throws S3Exception {
    S3Listing listing = S3Listing.of(call);
    BucketPage<S3Object> page = bucket.list(listing);
    S3Xml xml =
        S3Xml.document("ListBucketResult")
            .text("Name", name)
            .text("Prefix", encoded(call, listing.prefix()))
            .text("KeyCount", Integer.toString(page.size()))
            .text("MaxKeys", Integer.toString(listing.limit()))
            .text("IsTruncated", Boolean.toString(page.token().isPresent()));
    call.parameter("delimiter").ifPresent(text -> xml.text("Delimiter", encoded(call, text)));
    call.parameter("start-after").ifPresent(text -> xml.text("StartAfter", encoded(call, text)));
    call.parameter("encoding-type").ifPresent(text -> xml.text("EncodingType", text));
    call.parameter("continuation-token").ifPresent(text -> xml.text("ContinuationToken", text));
    page.token().ifPresent(token -> xml.text("NextContinuationToken", token));
    page.items()
        .forEach(
            (key, object) ->
                xml.open("Contents")
                    .text("Key", encoded(call, key))
                    .text("LastModified", HttpTimes.body(object.modified()))
                    .text("ETag", object.quotedEtag())
                    .text("Size", Integer.toString(object.length()))
                    .text("StorageClass", "STANDARD")
                    .close());
    page.prefixes()
        .forEach(
            prefix -> xml.open("CommonPrefixes").text("Prefix", encoded(call, prefix)).close());
    return xml.reply(200);
  }

  private Reply read(Call call, String key) throws S3Exception {
    S3Object live = bucket.get(key);
    S3Conditions.of(call).checkRead(live);
    ByteRange range =
        ByteRange.of(call.header("Range"), live.length())
            .orElseThrow(() -> S3Exception.of(416, ""));
    Reply reply = new Reply(range.isPartial() ? 206 : 200);
    live.headers().forEach(reply::header);
    byte[] content = live.content();
    if (range.isPartial()) {
      content = Arrays.copyOfRange(content, range.from(), range.to());
      reply.header("Content-Range", range.header(live.length()));
    }
    reply
        .header("ETag", live.quotedEtag())
        .header("Last-Modified", HttpTimes.header(live.modified()))
        .header("Accept-Ranges", "bytes");
    String type = live.headers().getOrDefault("content-type", "binary/octet-stream");
    return call.method().equals("HEAD")
        ? reply.header("Content-Type", type).header("Content-Length", "" + content.length)
        : reply.body(type, content);
  }

  private Reply put(Call call, String key) throws S3Exception {
    S3Object object = S3Object.of(S3Body.of(call), described(call));
    bucket.put(key, object, S3Conditions.of(call));
    return new Reply(200).header("ETag", object.quotedEtag());
  }

  private Reply copy(Call call, String key) throws S3Exception {
    String source = call.header("x-amz-copy-source").orElse("");
    source = Call.decodePath(source.startsWith("/") ? source.substring(1) : source);
    if (!source.startsWith(name + "/")) {
      throw new S3Exception(404, "NoSuchBucket", "The specified bucket does not exist: " + source);
    }
    source = source.substring(name.length() + 1);
    boolean describes =
        call.header("x-amz-metadata-directive").filter("REPLACE"::equalsIgnoreCase).isPresent();
    if (source.equals(key) && !describes) {
      throw new S3Exception(
          400, "InvalidRequest", "This copy request is illegal: it copies an object to itself");
    }
    S3Object live = bucket.get(source);
    S3Conditions.ofSource(call).checkCopy(live);
    S3Object made = S3Object.of(live.content(), describes ? described(call) : live.headers());
    bucket.put(key, made, S3Conditions.of(call));
    return S3Xml.document("CopyObjectResult")
        .text("LastModified", HttpTimes.body(made.modified()))
        .text("ETag", made.quotedEtag())
        .reply(200);
  }

  private Reply deleteMany(Call call) throws S3Exception {
    byte[] body = S3Body.of(call);
    if (!S3Hashes.areGiven(call.headers()) && call.header("x-amz-trailer").isEmpty()) {
      throw new S3Exception(
          400, "InvalidRequest", "Missing required header for this request: Content-MD5");
    }
    Element root = S3Xml.parse(body);
    List<Element> objects = S3Xml.all(root, "Object");
    if (objects.isEmpty() || objects.size() > MOST_KEYS) {
      throw S3Xml.malformed(objects.size() + " objects; there have to be 1 to " + MOST_KEYS);
    }
    List<String> keys = new ArrayList<>();
    for (Element object : objects) {
      keys.add(S3Xml.text(object, "Key"));
      if (object.getElementsByTagName("*").getLength() > 1) {
        throw S3Exception.unknown("deletions of versions or on conditions");
      }
    }
    boolean isQuiet =
        S3Xml.all(root, "Quiet").stream().anyMatch(quiet -> quiet.getTextContent().equals("true"));
    S3Xml xml = S3Xml.document("DeleteResult");
    for (String key : keys) {
      bucket.delete(key);
      if (!isQuiet) {
        xml.open("Deleted").text("Key", key).close();
      }
    }
    return xml.reply(200);
  }

  private Reply complete(Call call, String key, String upload) throws S3Exception {
    List<Map.Entry<Integer, String>> parts = new ArrayList<>();
    for (Element part : S3Xml.all(S3Xml.parse(S3Body.of(call)), "Part")) {
      String number = S3Xml.text(part, "PartNumber");
      parts.add(Map.entry(number(number), S3Xml.text(part, "ETag").replace("\"", "")));
    }
    S3Object made = bucket.complete(key, upload, parts, S3Conditions.of(call));
    return S3Xml.document("CompleteMultipartUploadResult")
        .text("Location", "http://127.0.0.1/" + name + "/" + encoded(key))
        .text("Bucket", name)
        .text("Key", key)
        .text("ETag", made.quotedEtag())
        .reply(200);
  }

  private static int number(Call call) throws S3Exception {
    return number(call.parameter("partNumber").orElse(""));
  }

  private static int number(String text) throws S3Exception {
    if (!text.matches("\\d{1,9}")) {
      throw S3Exception.invalid("Part number must be an integer: " + text);
    }
    return Integer.parseInt(text);
  }

  private Reply uploads(Call call) throws S3Exception {
    if (call.parameter("delimiter").filter(text -> !text.isEmpty()).isPresent()) {
      throw S3Exception.unknown("listings of uploads with a delimiter");
    }
    int limit = S3Listing.limit(call, "max-uploads");
    NavigableMap<String, S3Upload> found = bucket.uploads(call.parameter("prefix").orElse(""));
    String marker = call.parameter("key-marker").orElse("");
    if (!marker.isEmpty()) {
      // Without the marker of an id: behind all uploads of the key.
      String id =
          call.parameter("upload-id-marker").filter(text -> !text.isEmpty()).orElse("\uFFFF");
      found = found.tailMap(marker + "\n" + id, false);
    }
    S3Xml xml =
        S3Xml.document("ListMultipartUploadsResult")
            .text("Bucket", name)
            .text("Prefix", encoded(call, call.parameter("prefix").orElse("")))
            .text("MaxUploads", Integer.toString(limit))
            .text("IsTruncated", Boolean.toString(found.size() > limit));
    call.parameter("encoding-type").ifPresent(text -> xml.text("EncodingType", text));
    int listed = 0;
    for (Map.Entry<String, S3Upload> each : found.entrySet()) {
      String key = each.getValue().key();
      String id = each.getKey().substring(key.length() + 1);
      xml.open("Upload")
          .text("Key", encoded(call, key))
          .text("UploadId", id)
          .text("Initiated", HttpTimes.body(each.getValue().initiated()))
          .text("StorageClass", "STANDARD")
          .close();
      if (++listed == limit) {
        if (found.size() > limit) {
          xml.text("NextKeyMarker", encoded(call, key)).text("NextUploadIdMarker", id);
        }
        break;
      }
    }
    return xml.reply(200);
  }

  private static void requireNoConditions(Call call) throws S3Exception {
    if (call.header("If-Match").isPresent()) {
      throw S3Exception.unknown("a deletion with If-Match");
    }
  }

  private static Map<String, String> described(Call call) {
    Map<String, String> described = new HashMap<>();
    call.headers()
        .forEach(
            (header, value) -> {
              if (DESCRIBING.contains(header) || header.startsWith("x-amz-meta-")) {
                described.put(header, value);
              }
            });
    // How it was sent in chunks is no property of what was sent.
    call.header("Content-Encoding")
        .map(encodings -> encodings.replaceAll("aws-chunked,? ?", ""))
        .filter(encodings -> !encodings.isEmpty())
        .ifPresent(encodings -> described.put("content-encoding", encodings));
    return described;
  }

  /** As the client wants keys in bodies. */
  private static String encoded(Call call, String key) {
    return call.parameter("encoding-type").filter("url"::equals).isPresent() ? encoded(key) : key;
  }

  static String encoded(String key) {
    return URLEncoder.encode(key, StandardCharsets.UTF_8).replace("%2F", "/");
  }
}
