package io.manifestcommitter.store;

import org.apache.hadoop.fs.FileStatus;

/**
 * Who may do what in a directory, and how its files are stored, as far as new entries inherit it
 * from there.
 */
public final class Rights {
  private final FileStatus status;
  private final String volume;

  private Rights(FileStatus status, String volume) {
    this.status = status;
    this.volume = volume;
  }

  /** What a status says. */
  static Rights of(FileStatus status) {
    return new Rights(status, "");
  }

  /** The same, in a store of several volumes, between which nothing can be renamed. */
  static Rights of(FileStatus status, String volume) {
    return new Rights(status, volume);
  }

  /** hadoop-azure tells it with the permission, HDFS with the status. */
  private boolean hasAcl() {
    return status.hasAcl() || hasAclBit(status);
  }

  @SuppressWarnings("deprecation")
  private static boolean hasAclBit(FileStatus status) {
    return status.getPermission().getAclBit();
  }

  /**
   * Whether what is made below one directory is sure to get the same rights as what is made below
   * the other. Two access control lists are not known to be equal: a listing tells only that there
   * are some. May take long on a local filesystem, which asks another process.
   */
  public boolean areSameAs(Rights other) {
    return isOnSameVolumeAs(other)
        && isEncrypted() == other.isEncrypted()
        && status.isErasureCoded() == other.status.isErasureCoded()
        && !hasAcl()
        && !other.hasAcl()
        && String.valueOf(status.getGroup()).equals(String.valueOf(other.status.getGroup()))
        && status.getPermission().equals(other.status.getPermission());
  }

  /** Whether what is made there is encrypted by the store for its zone. */
  public boolean isEncrypted() {
    return status.isEncrypted();
  }

  /** Whether entries can be renamed between the two. */
  public boolean isOnSameVolumeAs(Rights other) {
    return volume.equals(other.volume);
  }

  @Override
  public String toString() {
    return status.getGroup()
        + " "
        + status.getPermission()
        + (hasAcl() ? " acl" : "")
        + (isEncrypted() ? " encrypted" : "")
        + (status.isErasureCoded() ? " erasure-coded" : "");
  }
}
