// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class ReplaceNoteTest {
  private static final int MANY = 4000;

  @Test
  void anothersNoteThatIsLargeInMemoryIsNotHeld() throws IOException {
    MemoryFileSystem.state("hostile-note").clear();
    StagingRoot root = new StagingRoot(new Path("abfs://hostile-note/table"), "job");
    Store store = new Stores(MemoryFileSystem.configuration()).all();
    List<Path> places = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      places.add(new Path(root.directory(), "x".repeat(1500) + i));
    }
    store.mkdirs(root.attempt());
    ReplaceNote.write(store, root, places);
    ReplaceNote read = ReplaceNote.read(store, root).get();
    assertThat(places).allMatch(place -> read.meets(List.of(place)));
    for (long heap : new long[] {16 << 20, 1 << 10}) {
      assertThatThrownBy(() -> ReplaceNote.read(store, root, heap))
          .hasMessageContaining(root.replaces() + " needs more memory than this JVM has");
    }
  }
}
