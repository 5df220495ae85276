// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.S3Bucket.S3Object;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;

/** Where the bytes are: the bucket of the emulator of S3, or a local directory, by the URI. */
final class LakefsStorage {
  private static final Duration PRESIGNED_FOR = Duration.ofMinutes(15);
  private static final String LOCAL = "local://";

  private final S3Emulator s3;
  private final InstantSource clock;

  LakefsStorage(S3Emulator s3, InstantSource clock) {
    this.s3 = s3;
    this.clock = clock;
  }

  /**
   * The bytes at an address.
   *
   * @throws LakefsException 410: nobody has written them
   */
  byte[] read(String address) throws LakefsException {
    try {
      return isLocal(address)
          ? Files.readAllBytes(file(address))
          : s3.bucket().get(key(address)).content();
    } catch (S3Exception | NoSuchFileException e) {
      throw new LakefsException(410, "No data");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes an object, and gives its checksum. */
  String write(String address, byte[] content) throws LakefsException {
    S3Object object = S3Object.of(content, Map.of());
    if (isLocal(address)) {
      try {
        Files.createDirectories(file(address).getParent());
        Files.write(file(address), content);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    } else {
      onBucket(
          bucket -> {
            bucket.put(key(address), object, S3Conditions.NONE);
            return object;
          });
    }
    return object.etag();
  }

  /** Begins an upload in parts, and gives its id. */
  String initiate(String address) throws LakefsException {
    return onBucket(bucket -> bucket.initiate(key(address), Map.of()));
  }

  S3Object part(String address, String upload, int number, byte[] content) throws LakefsException {
    return onBucket(bucket -> bucket.part(key(address), upload, number, content));
  }

  /** Makes the object of an upload; 500 where the store refuses. */
  S3Object complete(String address, String upload, List<Map.Entry<Integer, String>> parts)
      throws LakefsException {
    return onBucket(bucket -> bucket.complete(key(address), upload, parts, S3Conditions.NONE));
  }

  /** Forgets an upload, and gives its id. */
  String abort(String address, String upload) throws LakefsException {
    return onBucket(
        bucket -> {
          bucket.abort(key(address), upload);
          return upload;
        });
  }

  /** When a URL that is presigned now expires, in seconds since the epoch. */
  long expiry() {
    return clock.instant().plus(PRESIGNED_FOR).getEpochSecond();
  }

  /**
   * A URL that reads or writes the object without credentials, for fifteen minutes.
   *
   * @param address in the bucket
   * @param parameters more of them, each with an ampersand behind it
   */
  String presigned(String address, String parameters) {
    return String.format("http://127.0.0.1:%d/%s/", s3.port(), bucketName())
        + S3Protocol.encoded(key(address)).replace("+", "%20")
        + S3Protocol.presigned(parameters, clock.instant(), PRESIGNED_FOR);
  }

  private String bucketName() {
    return s3.root().getHost();
  }

  /** Empty for other buckets, which have nothing. */
  private String key(String address) {
    String bucket = "s3://" + bucketName() + "/";
    return address.startsWith(bucket) ? address.substring(bucket.length()) : "";
  }

  static boolean isLocal(String address) {
    return address.startsWith(LOCAL);
  }

  private static Path file(String address) {
    return Path.of(address.substring(LOCAL.length()));
  }

  private <T> T onBucket(OnBucket<T> work) throws LakefsException {
    try {
      return work.on(s3.bucket());
    } catch (S3Exception e) {
      throw new LakefsException(500, e.getMessage());
    }
  }

  private interface OnBucket<T> {
    T on(S3Bucket bucket) throws S3Exception;
  }
}
