// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * An emulator of lakeFS with one repository, {@code lakefs://lake/main/} or {@code
 * s3a://lake/main/}, whose objects are in the bucket of an emulator of S3, below {@code
 * s3://emulated/lake/}.
 *
 * <p>A hook that refuses is a fault: {@code FaultRule.on("merge").refuse(412)}. A merge that has
 * looked its source up, and not merged yet, can be held by a rule on {@code merge-resolved}.
 */
public final class LakefsEmulator extends Emulator {
  private static final String REPOSITORY = "lake";

  private final LakefsProtocol protocol;
  private final LakefsRepository root;
  private final AtomicReference<Duration> ahead;

  private LakefsEmulator(
      LakefsProtocol protocol, LakefsRepository root, AtomicReference<Duration> ahead, int port)
      throws IOException {
    super(protocol, port, 503);
    this.protocol = protocol;
    this.root = root;
    this.ahead = ahead;
    protocol.pauses(faults()::pause);
  }

  /** Starts on a free port. */
  public static LakefsEmulator start(S3Emulator s3) throws IOException {
    return start(0, s3);
  }

  /**
   * Starts to serve.
   *
   * @param port 0 for a free one
   * @param s3 what the objects are in; from now on its presigned URLs expire by this clock
   * @throws IOException where the port is taken
   */
  public static LakefsEmulator start(int port, S3Emulator s3) throws IOException {
    AtomicReference<Duration> ahead = new AtomicReference<>(Duration.ZERO);
    InstantSource clock = () -> Instant.now().plus(ahead.get());
    s3.clock(clock);
    LakefsProtocol protocol = new LakefsProtocol(new LakefsStorage(s3, clock), clock);
    LakefsRepository root =
        done(() -> protocol.create(REPOSITORY, "s3://" + s3.root().getHost() + "/lake/"));
    return new LakefsEmulator(protocol, root, ahead, port);
  }

  /**
   * Makes a repository.
   *
   * @param namespace below which its objects are kept: {@code s3://emulated/...} or {@code
   *     local:///...}
   * @throws IllegalArgumentException where there is one of that name, or this is no namespace
   */
  public void create(String repository, String namespace) {
    done(() -> protocol.create(repository, namespace));
  }

  /** What {@code GET config} tells of the storage: "s3", unless told, or "local". */
  public void blockstore(String type) {
    protocol.abilities().blockstore(type);
  }

  /**
   * From now on the server has not these abilities.
   *
   * @param abilities by their names in {@code GET config}; none to have all again
   */
  public void without(String... abilities) {
    protocol.abilities().without(Set.of(abilities));
  }

  /**
   * From a minute on, by the emulator's clock, branches of these names take no writes or commits.
   * Merges they take.
   *
   * @param patterns in which {@code *} and {@code ?} stand for any characters; instead of all
   *     before
   */
  public void protect(String repository, String... patterns) {
    done(() -> protocol.repository(repository)).protect(List.of(patterns));
  }

  /** Moves the clock by which addresses and presigned URLs expire, and rules take effect. */
  public void advance(Duration time) {
    ahead.accumulateAndGet(time, Duration::plus);
  }

  @Override
  public URI root() {
    return URI.create("lakefs://" + REPOSITORY + "/" + LakefsRepository.DEFAULT_BRANCH + "/");
  }

  /** For hadoop-lakefs, the keys of the API, and beside those of S3 for the gateway. */
  @Override
  public Map<String, String> settings() {
    String server = "http://127.0.0.1:" + port();
    return Map.of(
        "fs.lakefs.impl",
        "io.lakefs.LakeFSFileSystem",
        "fs.lakefs.endpoint",
        server + "/api/v1",
        "fs.lakefs.access.key",
        LakefsProtocol.KEY,
        "fs.lakefs.secret.key",
        LakefsProtocol.SECRET,
        "fs.s3a.bucket." + REPOSITORY + ".endpoint",
        server);
  }

  /** Staged or committed. */
  @Override
  public Map<String, Long> tree() {
    Map<String, Long> tree = new TreeMap<>();
    done(() -> root.tree(LakefsRepository.DEFAULT_BRANCH))
        .entries()
        .forEach((path, entry) -> tree.put("/" + path, entry.size()));
    return tree;
  }

  private static <T> T done(Work<T> work) {
    try {
      return work.done();
    } catch (LakefsException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private interface Work<T> {
    T done() throws LakefsException;
  }
}
