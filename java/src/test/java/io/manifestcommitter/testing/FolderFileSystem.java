// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

/**
 * A bucket with hierarchical namespace in memory, with as much of the client of Google's connector
 * as the committer uses. Folders are there whether or not an object stands for them, and stay when
 * they are empty; a folder is renamed by an operation ({@link FolderRename}).
 */
public final class FolderFileSystem extends MemoryFileSystem {
  @Override
  public Connector getGcsFs() {
    return new Connector(new FolderClient(this, state(), client()));
  }

  /** What the connector shows of itself. */
  public record Connector(FolderClient client) implements GoogleFileSystem {
    /** Its client. */
    public FolderClient getGcs() {
      return client;
    }

    @Override
    public GoogleFileSystemOptions getOptions() {
      return () -> () -> true;
    }
  }
}
