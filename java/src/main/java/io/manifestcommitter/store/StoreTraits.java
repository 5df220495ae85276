package io.manifestcommitter.store;

/**
 * What a family of stores guarantees. Steps ask for a trait, never for a scheme.
 *
 * <p>A trait is claimed only where the store's documentation or a measurement says so; {@link
 * #UNKNOWN} claims none, and is what a store gets that nobody has looked at.
 */
public enum StoreTraits {
  /** HDFS: a rename is one atomic change of the namespace and keeps the modification time. */
  HDFS(true, true, false, false),
  /** A local volume: as HDFS, through {@code rename(2)}. */
  LOCAL(true, true, false, false),
  /**
   * ADLS Gen2 with a hierarchical namespace: renames of files and directories are atomic, and a
   * file keeps its etag. Nothing is claimed about its modification time: the etag says more.
   */
  ABFS(true, false, true, false),
  /**
   * Google Cloud Storage: a file rename is a move of one object, a directory rename is a loop over
   * objects. A moved object gets a new modification time and has no etag that the connector shows.
   */
  GCS(false, false, false, false),
  /**
   * As {@link #GCS}, with a content hash for each file, which a move keeps and a request of its own
   * tells ({@code fs.gs.checksum.type}).
   */
  GCS_WITH_CHECKSUMS(false, false, true, true),
  /** Any other store: only its file rename is relied on. */
  UNKNOWN(false, false, false, false);

  private final boolean atomicDirectoryRename;
  private final boolean renameKeepsModificationTime;
  private final boolean renameKeepsEtag;
  private final boolean identityCostsRequest;

  StoreTraits(
      boolean atomicDirectoryRename,
      boolean renameKeepsModificationTime,
      boolean renameKeepsEtag,
      boolean identityCostsRequest) {
    this.atomicDirectoryRename = atomicDirectoryRename;
    this.renameKeepsModificationTime = renameKeepsModificationTime;
    this.renameKeepsEtag = renameKeepsEtag;
    this.identityCostsRequest = identityCostsRequest;
  }

  /**
   * Whether a directory moves, with all that is in it, in one step that cannot be seen half done.
   */
  public boolean hasAtomicDirectoryRename() {
    return atomicDirectoryRename;
  }

  /** Whether a renamed file keeps its modification time, so that the time helps to recognise it. */
  public boolean renameKeepsModificationTime() {
    return renameKeepsModificationTime;
  }

  /** Whether a renamed file keeps its etag, so that the etag proves which file it is. */
  public boolean renameKeepsEtag() {
    return renameKeepsEtag;
  }

  /** Whether what identifies a file is not in its listing and takes a request for each file. */
  public boolean identityCostsRequest() {
    return identityCostsRequest;
  }
}
