package io.manifestcommitter.store;

import org.apache.hadoop.fs.FileStatus;

/**
 * Who may do what in a directory, and how its files are stored, as far as new entries inherit it
 * from there.
 */
public final class Rights {
  private final String group;
  private final int permission;
  private final boolean hasAcl;
  private final boolean encrypted;
  private final boolean erasureCoded;
  private final String volume;

  private Rights(FileStatus status, String volume) {
    this.volume = volume;
    this.group = String.valueOf(status.getGroup());
    this.permission = status.getPermission().toShort();
    // hadoop-azure tells it with the permission, HDFS with the status.
    this.hasAcl = status.hasAcl() || hasAclBit(status);
    this.encrypted = status.isEncrypted();
    this.erasureCoded = status.isErasureCoded();
  }

  /** What a status says. May take long on a local filesystem, which asks another process. */
  static Rights of(FileStatus status) {
    return new Rights(status, "");
  }

  /** The same, in a store of several volumes, between which nothing can be renamed. */
  static Rights of(FileStatus status, String volume) {
    return new Rights(status, volume);
  }

  @SuppressWarnings("deprecation")
  private static boolean hasAclBit(FileStatus status) {
    return status.getPermission().getAclBit();
  }

  /**
   * Whether what is made below one directory is sure to get the same rights as what is made below
   * the other. Two access control lists are not known to be equal: a listing tells only that there
   * are some.
   */
  public boolean areSameAs(Rights other) {
    return group.equals(other.group)
        && permission == other.permission
        && !hasAcl
        && !other.hasAcl
        && encrypted == other.encrypted
        && erasureCoded == other.erasureCoded
        && isOnSameVolumeAs(other);
  }

  /** Whether entries can be renamed between the two. */
  public boolean isOnSameVolumeAs(Rights other) {
    return volume.equals(other.volume);
  }

  @Override
  public String toString() {
    return group
        + " "
        + Integer.toOctalString(permission)
        + (hasAcl ? " acl" : "")
        + (encrypted ? " encrypted" : "")
        + (erasureCoded ? " erasure-coded" : "");
  }
}
