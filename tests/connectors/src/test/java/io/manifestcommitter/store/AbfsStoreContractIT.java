// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.connectors.EmulatedStore;
import io.manifestcommitter.emulator.Onto;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/** The store contract through hadoop-azure, however a rename onto a directory is answered. */
class AbfsStoreContractIT {
  @Nested
  class Nests extends Abfs {
    Nests() {
      super(EmulatedStore.ABFS, Onto.NESTS);
    }
  }

  @Nested
  class Conflict extends Abfs {
    Conflict() {
      super(EmulatedStore.ABFS, Onto.CONFLICT);
    }
  }

  @Nested
  class ReplacesIfEmpty extends Abfs {
    ReplacesIfEmpty() {
      super(EmulatedStore.ABFS, Onto.REPLACES_IF_EMPTY);
    }
  }

  @Nested
  class ThroughTls extends Abfs {
    ThroughTls() {
      super(EmulatedStore.ABFSS, Onto.NESTS);
    }
  }

  private abstract static class Abfs extends StoreContract {
    private final EmulatedStore emulated;
    private final Onto answer;

    Abfs(EmulatedStore emulated, Onto answer) {
      this.emulated = emulated;
      this.answer = answer;
    }

    @Override
    protected Store store() {
      EmulatedStore.abfs().onExistingDirectory(answer);
      return new Stores(emulated.conf()).all();
    }

    @Override
    protected Path root() {
      return emulated.newRoot("contract");
    }

    /** hadoop-azure takes no name that ends in a dot. */
    @Override
    protected boolean allowsDirectory(String name) {
      return !name.endsWith(".");
    }

    @AfterEach
    void answerAsBefore() {
      EmulatedStore.abfs().onExistingDirectory(Onto.NESTS);
    }
  }
}
