// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.manifest.CorruptManifestException;

/** A journal that another version of the committer wrote. That version can recover the table. */
public final class OtherVersionException extends CorruptManifestException {
  private static final long serialVersionUID = 1L;

  public OtherVersionException(String journal, long version, long known) {
    this(
        journal
            + " is of version "
            + version
            + ", and this version of the committer reads version "
            + known);
  }

  /** As above, of a journal that this version cannot carry out, for this reason. */
  OtherVersionException(String reason) {
    super(
        reason
            + ". Nothing was changed, and nothing is lost: recover the table with the version of the"
            + " committer that wrote it");
  }
}
