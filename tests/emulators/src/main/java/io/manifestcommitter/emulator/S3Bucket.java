// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.BucketListing.BucketOrder;
import io.manifestcommitter.emulator.BucketListing.BucketPage;
import io.manifestcommitter.emulator.S3Body.S3Hashes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A strongly consistent namespace of objects, and the multipart uploads that are not completed.
 * Each call is atomic. Directories are nothing but keys that end in a slash.
 */
class S3Bucket {
  private static final int LONGEST_KEY = 1024;

  private final NavigableMap<String, S3Object> objects = new TreeMap<>(new BucketOrder());
  private final Map<String, S3Upload> uploads = new HashMap<>();
  private final Map<String, S3Object> completed = new HashMap<>();
  private final SecureRandom random = new SecureRandom();
  private boolean remembersCompletions = true;

  /** From now on a completion that is repeated is refused, as it is some time after the first. */
  synchronized void forgetCompletions() {
    remembersCompletions = false;
    completed.clear();
  }

  /** All keys, each with a leading slash, and the sizes in bytes. */
  synchronized Map<String, Long> tree() {
    Map<String, Long> tree = new TreeMap<>();
    objects.forEach((key, object) -> tree.put("/" + key, (long) object.length()));
    return tree;
  }

  /**
   * What has the key.
   *
   * @throws S3Exception 404
   */
  synchronized S3Object get(String key) throws S3Exception {
    S3Object live = objects.get(key);
    if (live == null) {
      throw S3Exception.noKey(key);
    }
    return live;
  }

  synchronized BucketPage<S3Object> list(BucketListing listing) throws S3Exception {
    return listing.page(objects);
  }

  /**
   * Gives the key another object.
   *
   * @throws S3Exception 412, 404, 400 where no object can have the key
   */
  synchronized void put(String key, S3Object object, S3Conditions conditions) throws S3Exception {
    checkKey(key);
    conditions.checkWrite(key, Optional.ofNullable(objects.get(key)));
    objects.put(key, object);
  }

  /** Removes what has the key, if anything has. */
  synchronized void delete(String key) throws S3Exception {
    objects.remove(key);
  }

  /**
   * Begins an upload.
   *
   * @return its id
   */
  synchronized String initiate(String key, Map<String, String> headers) throws S3Exception {
    checkKey(key);
    byte[] bytes = new byte[72];
    random.nextBytes(bytes);
    String id = Base64.getUrlEncoder().encodeToString(bytes);
    uploads.put(id, new S3Upload(key, headers, Instant.now(), new TreeMap<>()));
    return id;
  }

  /**
   * Keeps a part.
   *
   * @throws S3Exception 404 NoSuchUpload, 400
   */
  synchronized S3Object part(String key, String id, int number, byte[] content) throws S3Exception {
    return upload(key, id).put(number, content);
  }

  /**
   * Makes the object; the upload is gone. Again, it gives what it made as long as that is
   * remembered, whatever the key has by then.
   *
   * @throws S3Exception 404 NoSuchUpload, 400, 412
   */
  synchronized S3Object complete(
      String key, String id, List<Map.Entry<Integer, String>> parts, S3Conditions conditions)
      throws S3Exception {
    if (completed.containsKey(id)) {
      return completed.get(id);
    }
    S3Object made = upload(key, id).complete(parts);
    conditions.checkWrite(key, Optional.ofNullable(objects.get(key)));
    uploads.remove(id);
    objects.put(key, made);
    if (remembersCompletions) {
      completed.put(id, made);
    }
    return made;
  }

  /**
   * Forgets an upload and its parts.
   *
   * @throws S3Exception 404 NoSuchUpload
   */
  synchronized void abort(String key, String id) throws S3Exception {
    upload(key, id);
    uploads.remove(id);
  }

  /** The uploads of keys that begin with a prefix, by key and id, which are joined by a newline. */
  synchronized NavigableMap<String, S3Upload> uploads(String prefix) {
    NavigableMap<String, S3Upload> found = new TreeMap<>(new BucketOrder());
    uploads.forEach(
        (id, upload) -> {
          if (upload.key().startsWith(prefix)) {
            found.put(upload.key() + "\n" + id, upload);
          }
        });
    return found;
  }

  private S3Upload upload(String key, String id) throws S3Exception {
    S3Upload upload = uploads.get(id);
    if (upload == null || !upload.key().equals(key)) {
      throw S3Exception.noUpload(id);
    }
    return upload;
  }

  private static void checkKey(String key) throws S3Exception {
    if (key.getBytes(StandardCharsets.UTF_8).length > LONGEST_KEY) {
      throw new S3Exception(400, "KeyTooLongError", "Your key is too long");
    }
  }

  /**
   * What a key has. Never changed once made.
   *
   * @param content the bytes themselves: not to be changed; none where only a listing needs it
   * @param length of the content
   * @param etag without quotes
   * @param headers of what describes it, by lower-case name, as they come back with it
   */
  record S3Object(
      byte[] content, int length, String etag, Map<String, String> headers, Instant modified) {
    /** What was sent in one request: its etag is the hash of its bytes. */
    static S3Object of(byte[] content, Map<String, String> headers) {
      String etag = S3Hashes.hex(S3Hashes.md5(content));
      return new S3Object(content, content.length, etag, headers, Instant.now());
    }

    /** As it stands in headers and bodies. */
    String quotedEtag() {
      return '"' + etag + '"';
    }
  }

  /** A multipart upload that is not completed. Guarded by its bucket's lock. */
  record S3Upload(
      String key,
      Map<String, String> headers,
      Instant initiated,
      NavigableMap<Integer, S3Object> parts) {
    private static final int MOST_PARTS = 10_000;

    /** Bytes that every part but the last has at least. */
    private static final int SMALLEST_PART = 5 << 20;

    /** Keeps a part, in the place of one of the same number. */
    S3Object put(int number, byte[] content) throws S3Exception {
      if (number < 1 || number > MOST_PARTS) {
        throw S3Exception.invalid(
            "Part number must be an integer between 1 and " + MOST_PARTS + ", inclusive");
      }
      S3Object part = S3Object.of(content, Map.of());
      parts.put(number, part);
      return part;
    }

    /**
     * The object that these parts make.
     *
     * @param chosen numbers and etags
     * @throws S3Exception 400 where a part is missing, is another one or is too small
     */
    S3Object complete(List<Map.Entry<Integer, String>> chosen) throws S3Exception {
      if (chosen.isEmpty()) {
        throw S3Xml.malformed("no parts");
      }
      ByteArrayOutputStream content = new ByteArrayOutputStream();
      ByteArrayOutputStream hashes = new ByteArrayOutputStream();
      int last = 0;
      for (Map.Entry<Integer, String> each : chosen) {
        if (each.getKey() <= last) {
          throw new S3Exception(
              400, "InvalidPartOrder", "The list of parts was not in ascending order");
        }
        last = each.getKey();
        S3Object part = parts.get(last);
        if (part == null || !part.etag().equals(each.getValue())) {
          throw new S3Exception(
              400, "InvalidPart", "One or more of the specified parts could not be found: " + last);
        }
        boolean isLast = each == chosen.get(chosen.size() - 1);
        if (!isLast && part.length() < SMALLEST_PART) {
          throw new S3Exception(
              400, "EntityTooSmall", "Part " + last + " has only " + part.length() + " bytes");
        }
        content.writeBytes(part.content());
        hashes.writeBytes(S3Hashes.md5(part.content()));
      }
      String etag = S3Hashes.hex(S3Hashes.md5(hashes.toByteArray())) + "-" + chosen.size();
      return new S3Object(content.toByteArray(), content.size(), etag, headers, Instant.now());
    }
  }
}
