package io.manifestcommitter.store;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.math.BigInteger;
import java.util.List;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.StorageStatistics;

/**
 * Google Cloud Storage through Google's connector ({@code gs}).
 *
 * <p>Relies on:
 *
 * <ul>
 *   <li>strong consistency of objects and listings ("Cloud Storage consistency");
 *   <li>the rename of one file being the move of one object, which is atomic and which the
 *       connector sends with a precondition on the destination's generation, so that it refuses an
 *       existing one ("Objects: move"; {@code fs.gs.operation.move.enable}). With moves switched
 *       off, and in releases without them, it is a copy and a delete after a look at the
 *       destination: the copy appears whole, and both ends may exist ("Objects: rewrite");
 *   <li>the length of a file, and its content hash where {@code fs.gs.checksum.type} asks the
 *       connector to show it: the only identity that a move keeps. Generation and etag change.
 * </ul>
 *
 * <p>Directories are never renamed: the connector does that object by object, and a reader or a
 * crash sees half of it.
 *
 * <p>The connector makes a request that was answered 429 or 503 again by itself, up to {@code
 * fs.gs.http.max.retry} times, and counts such answers in its global storage statistics.
 */
public final class GcsStore extends HadoopStore {
  private static final String STATISTICS = "GhfsStorageStatistics";
  private static final List<String> REFUSALS =
      List.of("gcs_api_client_rate_limit_error_count", "gcs_api_server_unavailable_count");
  private static final String CHECKSUM_TYPE = "fs.gs.checksum.type";

  /** A store on the filesystem {@code fs} of Google's connector. */
  public GcsStore(FileSystem fs, RequestGate gate) {
    super(fs, traits(fs), gate);
  }

  private static StoreTraits traits(FileSystem fs) {
    if (GcsMoves.areUsedBy(fs)) {
      return showsChecksums(fs) ? StoreTraits.GCS_WITH_CHECKSUMS : StoreTraits.GCS;
    }
    return showsChecksums(fs) ? StoreTraits.GCS_COPYING_WITH_CHECKSUMS : StoreTraits.GCS_COPYING;
  }

  private static boolean showsChecksums(FileSystem fs) {
    return !fs.getConf().getTrimmed(CHECKSUM_TYPE, "NONE").equalsIgnoreCase("NONE");
  }

  /** Of all filesystems of the connector in this JVM: it counts for all of them together. */
  @Override
  protected long refusals() {
    StorageStatistics statistics = FileSystem.getGlobalStorageStatistics().get(STATISTICS);
    long refusals = 0;
    if (statistics != null) {
      for (String counter : REFUSALS) {
        Long count = statistics.getLong(counter);
        refusals += count == null ? 0 : count;
      }
    }
    return refusals;
  }

  @Override
  public StoreEntry identified(StoreEntry entry) throws IOException {
    if (entry.isDirectory() || !traits(entry.path()).identityCostsRequest()) {
      return entry;
    }
    FileChecksum checksum =
        ask("the checksum of " + entry.path(), () -> fs().getFileChecksum(entry.path()));
    if (checksum == null) {
      throw new FileNotFoundException(entry.path() + " has no checksum any more");
    }
    return StoreEntry.file(entry.path(), entry.length(), text(checksum), 0)
        .lastWritten(entry.lastWritten());
  }

  /** As "COMPOSITE-CRC32C-9ae3af37". */
  private static String text(FileChecksum checksum) {
    return checksum.getAlgorithmName() + "-" + new BigInteger(1, checksum.getBytes()).toString(16);
  }
}
