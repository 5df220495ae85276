// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

/**
 * What a family of stores guarantees. Steps ask for a trait, never for a scheme.
 *
 * <p>A trait is claimed only where the store's documentation or a measurement says so; {@link
 * #UNKNOWN} claims none, and is what a store gets that nobody has looked at.
 */
public enum StoreTraits {
  /** HDFS: a rename is one atomic change of the namespace and keeps the modification time. */
  HDFS,
  /**
   * As {@link #HDFS}, by HTTP: the answer to a creation comes with the end of the content, and
   * until then nobody knows whether the file is there.
   */
  WEBHDFS,
  /** A local volume: as HDFS, through {@code rename(2)}. */
  LOCAL,
  /**
   * ADLS Gen2 with a hierarchical namespace: renames of files and directories are atomic, and a
   * file keeps its etag. Nothing is claimed about its modification time: the etag says more.
   */
  ABFS,
  /**
   * Google Cloud Storage: a file rename is a move of one object, a directory rename is a loop over
   * objects. A moved object gets a new modification time and has no etag that the connector shows.
   */
  GCS,
  /**
   * As {@link #GCS}, with a content hash for each file, which a move keeps and a request of its own
   * tells ({@code fs.gs.checksum.type}).
   */
  GCS_WITH_CHECKSUMS,
  /**
   * As {@link #GCS}, by the connector's own client: a listing shows the content hash, which a move
   * keeps, and the generation, which tells the store what to move.
   */
  GCS_DIRECT,
  /**
   * As {@link #GCS_DIRECT}, in a bucket with hierarchical namespace: a folder is renamed with all
   * that is in it, by one change of the namespace. Its deletion is one request for each entry.
   */
  GCS_HIERARCHICAL,
  /**
   * Amazon S3: what a task writes is a multipart upload, which becomes visible, whole and at its
   * place, when it is completed. There are no directories, and no rename: a small file of the
   * committer's own is written again under the other name.
   */
  S3,
  /**
   * As {@link #S3}, by hadoop-aws 3.4.2 or newer: an object is written where nothing is, or in the
   * place of one that is known by its etag, or not at all.
   */
  S3_CONDITIONAL,
  /**
   * A store whose scheme the user vouches for: a rename of a file or directory is one atomic change
   * that keeps length and modification time. See {@link StoreFamily#ATOMIC_RENAME_SCHEMES}.
   */
  VOUCHED,
  /** Any other store. Its tables are not served; reports may be saved there. */
  UNKNOWN;

  /**
   * Whether a directory moves, with all that is in it, in one step that cannot be seen half done.
   */
  public boolean hasAtomicDirectoryRename() {
    return this == HDFS
        || this == WEBHDFS
        || this == LOCAL
        || this == ABFS
        || this == GCS_HIERARCHICAL
        || this == VOUCHED;
  }

  /** Whether a directory goes, with all that is in it, by one request that leaves no part of it. */
  public boolean hasAtomicDirectoryDeletion() {
    return this == HDFS || this == WEBHDFS || this == ABFS;
  }

  /** Whether a renamed file keeps its modification time, so that the time helps to recognise it. */
  public boolean renameKeepsModificationTime() {
    return this == HDFS || this == WEBHDFS || this == LOCAL || this == VOUCHED;
  }

  /** Whether a renamed file keeps its etag, so that the etag proves which file it is. */
  public boolean renameKeepsEtag() {
    return this == ABFS
        || this == GCS_WITH_CHECKSUMS
        || this == GCS_DIRECT
        || this == GCS_HIERARCHICAL
        || completesUploads();
  }

  /** Whether what identifies a file is not in its listing and takes a request for each file. */
  public boolean identityCostsRequest() {
    return this == GCS_WITH_CHECKSUMS;
  }

  /**
   * Whether output becomes visible by the completion of uploads, and not by renames. Such a store
   * has no directories either: where there is a file, there is a directory.
   */
  public boolean completesUploads() {
    return this == S3 || this == S3_CONDITIONAL;
  }

  /** Whether {@link Store#replace} asks the store to compare what is there with what was seen. */
  public boolean replacesOnlyWhatWasSeen() {
    return this == S3_CONDITIONAL;
  }

  /**
   * Whether a file is there from its creation on, before its content, and who writes it fails, and
   * does not make it again, once somebody has deleted it. An object is there when it is closed.
   */
  public boolean createsBeforeContent() {
    return this == HDFS || this == ABFS;
  }

  /**
   * Whether a file can be renamed to where no directory is, which is then made: who takes that
   * directory away keeps no file from going there.
   */
  public boolean makesParentsOfRenamedFiles() {
    return this == GCS_DIRECT || this == GCS_HIERARCHICAL;
  }

  /**
   * Whether the time of a directory changes with each entry that is made in it or goes. Where the
   * time is the same, nobody has made a directory there and removed it since.
   */
  public boolean directoryTimeTellsOfEntries() {
    return this == HDFS || this == WEBHDFS || this == LOCAL;
  }

  /** Whether a directory may be of another encryption zone than the one it is in. */
  public boolean hasZones() {
    return this == HDFS || this == WEBHDFS;
  }

  /** Whether a name may be a symbolic link. */
  public boolean hasLinks() {
    return this == LOCAL;
  }
}
