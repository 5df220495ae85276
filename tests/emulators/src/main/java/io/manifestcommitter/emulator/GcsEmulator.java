// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.GcsFolders.GcsOperations;
import java.io.IOException;
import java.net.URI;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * An emulator of Google Cloud Storage with one flat bucket, {@code gs://emulated/}, and one with
 * hierarchical namespace, {@code gs://hierarchical/}.
 */
public final class GcsEmulator extends Emulator {
  private final GcsProtocol protocol;
  private final GcsBucket hierarchical;
  private final GcsBucket root;

  private GcsEmulator(GcsProtocol protocol, GcsBucket hierarchical, GcsBucket root, int port)
      throws IOException {
    super(protocol, port, 429);
    this.protocol = protocol;
    this.hierarchical = hierarchical;
    this.root = root;
  }

  /** Starts on a free port. */
  public static GcsEmulator start() throws IOException {
    return start(0);
  }

  /**
   * Starts to serve.
   *
   * @param port 0 for a free one
   * @throws IOException where the port is taken
   */
  public static GcsEmulator start(int port) throws IOException {
    return start(port, /* isHierarchical= */ false);
  }

  /** Starts on a free port; its {@link #root} is the bucket with hierarchical namespace. */
  public static GcsEmulator startHierarchical() throws IOException {
    return start(0, /* isHierarchical= */ true);
  }

  private static GcsEmulator start(int port, boolean isHierarchical) throws IOException {
    GcsBucket flat = new GcsBucket("emulated", false);
    GcsBucket hierarchical = new GcsBucket("hierarchical", true);
    GcsBucket root = isHierarchical ? hierarchical : flat;
    return new GcsEmulator(new GcsProtocol(flat, hierarchical), hierarchical, root, port);
  }

  /**
   * From now on a request that is repeated with its idempotency token is a new one, as it is to the
   * service some two minutes after the first try. A lost answer then ends in a refusal.
   */
  public void forgetTokens() {
    protocol.forgetTokens();
  }

  @Override
  public URI root() {
    return URI.create("gs://" + root.name() + "/");
  }

  /** The bucket with folders. */
  public URI hierarchicalRoot() {
    return URI.create("gs://" + hierarchical.name() + "/");
  }

  /** How a rename onto an existing folder is answered; with a conflict, unless told. */
  public void onExistingFolder(Onto answer) {
    protocol.onto(answer);
  }

  /** From now on a rename of a folder runs on until {@link #releaseRenames}. */
  public void holdRenames() {
    onOperations(GcsOperations::hold);
  }

  /** From now on a rename of a folder ends with an error, and changes nothing. */
  public void failRenames() {
    onOperations(GcsOperations::fail);
  }

  /** Ends the renames that run; from now on each ends with its first answer, and none fails. */
  public void releaseRenames() {
    onOperations(operations -> operations.release(hierarchical::renameFolder));
  }

  private void onOperations(Consumer<GcsOperations> action) {
    try {
      hierarchical.onFolders(
          (folders, operations) -> {
            action.accept(operations);
            return null;
          });
    } catch (GcsException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * For gcs-connector 3.1 and 4.0. The sizes are the connector's own defaults: it cannot read those
   * of Hadoop 3.5.0's core-default.xml, which end in a letter. Of its retries only the number can
   * be set; the first comes after 1.25 seconds. A response may take 5 seconds; tests of stalls set
   * {@code fs.gs.http.read-timeout}, in milliseconds.
   */
  @Override
  public Map<String, String> settings() {
    Map<String, String> settings = new TreeMap<>();
    settings.put("fs.gs.impl", "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem");
    settings.put("fs.AbstractFileSystem.gs.impl", "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFS");
    settings.put("fs.gs.storage.root.url", "http://127.0.0.1:" + port() + "/");
    settings.put("fs.gs.storage.service.path", "storage/v1/");
    settings.put("fs.gs.auth.type", "UNAUTHENTICATED");
    settings.put("fs.gs.project.id", "emulated");
    settings.put("fs.gs.client.type", "HTTP_API_CLIENT");
    settings.put("fs.gs.max.requests.per.batch", "1");
    settings.put("fs.gs.operation.move.enable", "true");
    settings.put("fs.gs.hierarchical.namespace.folders.enable", "false");
    settings.put("fs.gs.http.max.retry", "1");
    settings.put("fs.gs.max.wait.for.empty.object.creation", "0");
    settings.put("fs.gs.block.size", "67108864");
    settings.put("fs.gs.rewrite.max.chunk.size", "536870912");
    settings.put("fs.gs.outputstream.buffer.size", "8388608");
    settings.put("fs.gs.inputstream.inplace.seek.limit", "8388608");
    settings.put("fs.gs.inputstream.min.range.request.size", "2097152");
    return Collections.unmodifiableMap(settings);
  }

  @Override
  public Map<String, Long> tree() {
    return root.tree();
  }
}
