// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.BucketListing.BucketOrder;
import io.manifestcommitter.emulator.BucketListing.BucketPage;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * The branches and commits of a repository as one bucket, whose keys are {@code branch/path} or
 * {@code commit/path}; listings show a commit only if they begin with it. What is written is
 * staged. An upload that is over is forgotten at once, and its end is no answer to a repetition.
 */
final class LakefsBucket extends S3Bucket {
  private static final String METADATA = "x-amz-meta-";
  private static final byte[] NO_BYTES = new byte[0];

  private final LakefsRepository repository;
  private final LakefsStorage storage;
  private final LakefsAddresses addresses;

  /** The uploads under way, by their ids: keys to addresses and headers. */
  private final Map<String, Upload> uploads = new HashMap<>();

  LakefsBucket(LakefsRepository repository, LakefsStorage storage, LakefsAddresses addresses) {
    this.repository = repository;
    this.storage = storage;
    this.addresses = addresses;
  }

  @Override
  synchronized S3Object get(String key) throws S3Exception {
    try {
      LakefsEntry entry = repository.entry(branch(key), path(key));
      byte[] content = storage.read(entry.address());
      return object(entry, content, content.length);
    } catch (LakefsException e) {
      throw S3Exception.noKey(key);
    }
  }

  @Override
  synchronized BucketPage<S3Object> list(BucketListing listing) throws S3Exception {
    NavigableMap<String, S3Object> objects = new TreeMap<>(new BucketOrder());
    Set<String> refs = new HashSet<>(repository.branches(/* withHidden= */ true).keySet());
    if (repository.hasCommit(branch(listing.prefix()))) {
      refs.add(branch(listing.prefix()));
    }
    for (String ref : refs) {
      String root = ref + "/";
      if (root.startsWith(listing.prefix()) || listing.prefix().startsWith(root)) {
        done(() -> repository.tree(ref))
            .entries()
            .forEach(
                (path, entry) ->
                    objects.put(root + path, object(entry, NO_BYTES, (int) entry.size())));
      }
    }
    return listing.page(objects);
  }

  @Override
  synchronized void put(String key, S3Object object, S3Conditions conditions) throws S3Exception {
    checkConditions(key, conditions);
    String address = begin(key);
    done(() -> storage.write(address, object.content()));
    stage(key, address, object, object.headers(), conditions);
  }

  @Override
  synchronized void delete(String key) throws S3Exception {
    try {
      repository.remove(branch(key), path(key));
    } catch (LakefsException e) {
      if (e.status() != 404) {
        throw refused(e);
      }
    }
  }

  @Override
  synchronized String initiate(String key, Map<String, String> headers) throws S3Exception {
    String address = begin(key);
    String id = done(() -> storage.initiate(address));
    uploads.put(id, new Upload(key, address, headers));
    return id;
  }

  @Override
  synchronized S3Object part(String key, String id, int number, byte[] content) throws S3Exception {
    String address = upload(id).address();
    return done(() -> storage.part(address, id, number, content));
  }

  /** The answer has the whole etag; what is staged has it without the number of parts. */
  @Override
  synchronized S3Object complete(
      String key, String id, List<Map.Entry<Integer, String>> parts, S3Conditions conditions)
      throws S3Exception {
    Upload upload = upload(id);
    checkConditions(key, conditions);
    S3Object made = done(() -> storage.complete(upload.address(), id, parts));
    stage(key, upload.address(), made, upload.headers(), conditions);
    uploads.remove(id);
    return made;
  }

  @Override
  synchronized void abort(String key, String id) throws S3Exception {
    if (!uploads.containsKey(id) || !uploads.get(id).key().equals(key)) {
      throw S3Exception.noKey(key);
    }
    String address = uploads.remove(id).address();
    done(() -> storage.abort(address, id));
  }

  /** By paths without their branches, as the service lists them. */
  @Override
  synchronized NavigableMap<String, S3Upload> uploads(String prefix) {
    NavigableMap<String, S3Upload> found = new TreeMap<>(new BucketOrder());
    uploads.forEach(
        (id, upload) -> {
          String path = path(upload.key());
          found.put(
              path + "\n" + id,
              new S3Upload(path, upload.headers(), Instant.now(), new TreeMap<>()));
        });
    return found;
  }

  /** 500, and not 404, for an upload that is over. */
  private Upload upload(String id) throws S3Exception {
    if (!uploads.containsKey(id)) {
      throw new S3Exception(500, "InternalError", "We encountered an internal error");
    }
    return uploads.get(id);
  }

  /** A new address for what is written to a branch that is there. */
  private String begin(String key) throws S3Exception {
    done(() -> repository.head(branch(key)));
    return addresses.unsigned(repository);
  }

  /** Before anything is written. That a path is new is known for certain when it is staged. */
  private void checkConditions(String key, S3Conditions conditions) throws S3Exception {
    if (conditions.match().isPresent()) {
      throw new S3Exception(501, "NotImplemented", "If-Match");
    }
    if (conditions.noneMatch().isPresent()
        && done(() -> repository.find(branch(key), path(key))).isPresent()) {
      throw refused(LakefsException.exists());
    }
  }

  private void stage(
      String key,
      String address,
      S3Object object,
      Map<String, String> headers,
      S3Conditions conditions)
      throws S3Exception {
    Map<String, String> metadata = new HashMap<>();
    headers.forEach(
        (name, value) -> {
          if (name.startsWith(METADATA)) {
            metadata.put(name.substring(METADATA.length()), value);
          }
        });
    String etag = object.etag().replaceAll("-.*", "");
    long modified = object.modified().getEpochSecond();
    String type = headers.getOrDefault("content-type", "");
    LakefsEntry entry = new LakefsEntry(address, etag, object.length(), modified, metadata, type);
    boolean onlyIfNew = conditions.noneMatch().isPresent();
    done(() -> repository.stage(branch(key), path(key), entry, onlyIfNew));
  }

  private static S3Object object(LakefsEntry entry, byte[] content, int length) {
    Map<String, String> headers = new HashMap<>();
    entry.metadata().forEach((name, value) -> headers.put(METADATA + name, value));
    if (!entry.contentType().isEmpty()) {
      headers.put("content-type", entry.contentType());
    }
    Instant modified = Instant.ofEpochSecond(entry.modified());
    return new S3Object(content, length, entry.checksum(), headers, modified);
  }

  private static <T> T done(Work<T> work) throws S3Exception {
    try {
      return work.done();
    } catch (LakefsException e) {
      throw refused(e);
    }
  }

  private static S3Exception refused(LakefsException e) {
    return switch (e.status()) {
      case 403 -> new S3Exception(403, "ErrWriteToProtectedBranch", e.getMessage());
      case 404 -> new S3Exception(404, "NoSuchBucket", e.getMessage());
      case 412 -> S3Exception.conditionNotMet("If-None-Match");
      default -> new S3Exception(500, "InternalError", e.getMessage());
    };
  }

  private static String branch(String key) {
    return key.split("/", 2)[0];
  }

  private static String path(String key) {
    return key.substring(Math.min(key.length(), branch(key).length() + 1));
  }

  private interface Work<T> {
    T done() throws LakefsException;
  }

  private record Upload(String key, String address, Map<String, String> headers) {}
}
