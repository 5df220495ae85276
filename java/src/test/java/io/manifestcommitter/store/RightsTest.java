// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.Test;

class RightsTest {
  private static final FsPermission PLAIN = new FsPermission((short) 0750);

  private final Rights rights = new Rights(status(PLAIN, "people", false, false, false), "");

  @Test
  void ownersMayDiffer() {
    FileStatus other =
        new FileStatus(
            0,
            true,
            1,
            1,
            0,
            0,
            PLAIN,
            "another",
            "people",
            null,
            new Path("/d"),
            false,
            false,
            false);
    assertThat(rights.areSameAs(new Rights(other, ""))).isTrue();
  }

  @Test
  void groupPermissionEncryptionAndErasureCodingMayNot() {
    FsPermission open = new FsPermission((short) 0770);
    assertDifferent(new Rights(status(open, "people", false, false, false), ""));
    assertDifferent(new Rights(status(PLAIN, "others", false, false, false), ""));
    assertDifferent(new Rights(status(PLAIN, "people", false, true, false), ""));
    assertDifferent(new Rights(status(PLAIN, "people", false, false, true), ""));
  }

  @Test
  void twoAccessControlListsAreNotKnownToBeEqual() {
    Rights withList = new Rights(status(PLAIN, "people", true, false, false), "");
    assertDifferent(withList);
    assertThat(withList.areSameAs(withList)).isFalse();
    Rights withBit = new Rights(status(new WithAclBit(), "people", false, false, false), "");
    assertThat(withBit.areSameAs(withBit)).isFalse();
  }

  @Test
  void filesAreRenamedWithinOneVolume() {
    FileStatus status = status(PLAIN, "people", false, false, false);
    Rights one = new Rights(status, "1");
    assertThat(one.isOnSameVolumeAs(new Rights(status, "1"))).isTrue();
    assertThat(one.isOnSameVolumeAs(new Rights(status, "2"))).isFalse();
    assertThat(one.isOnSameVolumeAs(new Rights(status, ""))).as("not known").isTrue();
  }

  private void assertDifferent(Rights other) {
    assertThat(rights.areSameAs(other)).isFalse();
    assertThat(other.areSameAs(rights)).isFalse();
  }

  private static FileStatus status(
      FsPermission permission, String group, boolean acl, boolean encrypted, boolean coded) {
    return new FileStatus(
        0,
        true,
        1,
        1,
        0,
        0,
        permission,
        "somebody",
        group,
        null,
        new Path("/d"),
        acl,
        encrypted,
        coded);
  }

  /** As hadoop-azure tells it. */
  private static final class WithAclBit extends FsPermission {
    private static final long serialVersionUID = 1L;

    WithAclBit() {
      super(PLAIN);
    }

    @Override
    @Deprecated
    public boolean getAclBit() {
      return true;
    }
  }
}
