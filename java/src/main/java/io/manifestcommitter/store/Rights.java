// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.util.Collection;
import java.util.function.Supplier;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * What each user may do in a directory, and how its files are stored, as far as new entries inherit
 * it from there.
 */
public final class Rights {
  private final FileStatus status;
  private final String volume;

  /**
   * What a status says.
   *
   * @param volume in a store of several, between which nothing can be renamed; else empty
   */
  Rights(FileStatus status, String volume) {
    this.status = status;
    this.volume = volume;
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
    return isEncrypted() == other.isEncrypted()
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

  /** Whether files can be renamed between the two, as far as it is known. */
  public boolean isOnSameVolumeAs(Rights other) {
    return volume.isEmpty() || other.volume.isEmpty() || volume.equals(other.volume);
  }

  /**
   * Whether the permission clearly lets a user add entries, and remove them. One that an access
   * control list may restrict, or extend, is not clear.
   *
   * @param groups asked only where they matter
   */
  boolean letChangeEntries(String user, Supplier<Collection<String>> groups) {
    FsPermission permission = status.getPermission();
    if (user.equals(status.getOwner())) {
      return permission.getUserAction().implies(FsAction.WRITE_EXECUTE);
    }
    if (hasAcl()) {
      return false;
    }
    boolean toAll =
        permission.getGroupAction().implies(FsAction.WRITE_EXECUTE)
            && permission.getOtherAction().implies(FsAction.WRITE_EXECUTE);
    FsAction action =
        !toAll && groups.get().contains(status.getGroup())
            ? permission.getGroupAction()
            : permission.getOtherAction();
    return action.implies(FsAction.WRITE_EXECUTE);
  }

  /** Whether a user may remove only those entries that are his own. */
  boolean restrictToOwn(String user) {
    return status.getPermission().getStickyBit() && !user.equals(status.getOwner());
  }

  /** Owner, group and permission, for people. */
  String described() {
    return status.getOwner() + ":" + status.getGroup() + " with " + status.getPermission();
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
