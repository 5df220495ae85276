// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.Test;

class RightsTest {
  private static final FsPermission PLAIN = new FsPermission((short) 0750);

  private final Rights rights = Rights.of(status(PLAIN, "people", false, false, false));

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
    assertThat(rights.areSameAs(Rights.of(other))).isTrue();
  }

  @Test
  void groupPermissionEncryptionAndErasureCodingMayNot() {
    FsPermission open = new FsPermission((short) 0770);
    assertDifferent(Rights.of(status(open, "people", false, false, false)));
    assertDifferent(Rights.of(status(PLAIN, "others", false, false, false)));
    assertDifferent(Rights.of(status(PLAIN, "people", false, true, false)));
    assertDifferent(Rights.of(status(PLAIN, "people", false, false, true)));
  }

  @Test
  void twoAccessControlListsAreNotKnownToBeEqual() {
    Rights withList = Rights.of(status(PLAIN, "people", true, false, false));
    assertDifferent(withList);
    assertThat(withList.areSameAs(withList)).isFalse();
    Rights withBit = Rights.of(status(new WithAclBit(), "people", false, false, false));
    assertThat(withBit.areSameAs(withBit)).isFalse();
  }

  @Test
  void filesAreRenamedWithinOneVolume() {
    FileStatus status = status(PLAIN, "people", false, false, false);
    Rights one = Rights.of(status, "1");
    assertThat(one.isOnSameVolumeAs(Rights.of(status, "1"))).isTrue();
    assertThat(one.isOnSameVolumeAs(Rights.of(status, "2"))).isFalse();
    assertThat(one.isOnSameVolumeAs(Rights.of(status))).as("not known").isTrue();
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
