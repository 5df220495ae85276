// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.S3Bucket.S3Upload;
import java.io.IOException;
import java.net.URI;
import java.time.InstantSource;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** An emulator of Amazon S3 with one general purpose bucket, {@code s3a://emulated/}. */
public final class S3Emulator extends Emulator {
  private static final String BUCKET = "emulated";

  private final S3Protocol protocol;

  private S3Emulator(S3Protocol protocol, int port) throws IOException {
    super(protocol, port, 503);
    this.protocol = protocol;
  }

  /** Starts on a free port. */
  public static S3Emulator start() throws IOException {
    return start(0);
  }

  /**
   * Starts to serve.
   *
   * @param port 0 for a free one
   * @throws IOException where the port is taken
   */
  public static S3Emulator start(int port) throws IOException {
    return new S3Emulator(new S3Protocol(BUCKET, new S3Bucket()), port);
  }

  /**
   * From now on the completion of an upload that is completed is refused. Before, it has the answer
   * of the first, which says nothing about what the key has by then.
   */
  public void forgetCompletions() {
    protocol.bucket().forgetCompletions();
  }

  /** The bucket, for what writes to it in this process. */
  S3Bucket bucket() {
    return protocol.bucket();
  }

  /** By which presigned URLs expire. */
  void clock(InstantSource clock) {
    protocol.clock(clock);
  }

  @Override
  public URI root() {
    return URI.create("s3a://" + BUCKET + "/");
  }

  /** The keys of the uploads that are neither completed nor aborted, sorted; one for each. */
  public List<String> uploads() {
    return protocol.bucket().uploads("").values().stream().map(S3Upload::key).toList();
  }

  /** For hadoop-aws 3.3 and 3.5. */
  @Override
  public Map<String, String> settings() {
    Map<String, String> settings = new TreeMap<>();
    settings.put("fs.s3a.endpoint", "http://127.0.0.1:" + port());
    settings.put("fs.s3a.path.style.access", "true");
    settings.put("fs.s3a.connection.ssl.enabled", "false");
    settings.put("fs.s3a.access.key", "key");
    settings.put("fs.s3a.secret.key", "secret");
    settings.put("fs.s3a.attempts.maximum", "1");
    settings.put("fs.s3a.retry.limit", "2");
    settings.put("fs.s3a.retry.interval", "10ms");
    settings.put("fs.s3a.retry.throttle.limit", "2");
    settings.put("fs.s3a.retry.throttle.interval", "10ms");
    return Collections.unmodifiableMap(settings);
  }

  @Override
  public Map<String, Long> tree() {
    return protocol.bucket().tree();
  }
}
