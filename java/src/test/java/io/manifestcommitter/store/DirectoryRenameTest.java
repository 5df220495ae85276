// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.CallableRaisingIOE;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A rename of a directory that a store refused once, and that is asked for again. */
class DirectoryRenameTest {
  private final MemoryStoreState state = MemoryFileSystem.state("directory-rename");
  private final Path source = new Path("abfs://directory-rename/source");
  private final Path destination = new Path("abfs://directory-rename/destination");
  private int asked;

  @BeforeEach
  void makeSource() {
    state.clear();
    state.mkdirs("/source");
  }

  @Test
  void isAskedForAgainWhereNothingWasDone() throws IOException {
    assertThat(askTwice(() -> {})).isTrue();
    assertThat(asked).isEqualTo(2);
  }

  @Test
  void isNotAskedForAgainOnceItIsDone() throws IOException {
    assertThat(
            askTwice(
                () -> {
                  state.remove("/source");
                  state.mkdirs("/destination");
                }))
        .isFalse();
    assertThat(asked).isEqualTo(1);
  }

  @Test
  void isNotAskedForAgainOntoADirectoryThatAppeared() throws IOException {
    assertThat(askTwice(() -> state.mkdirs("/destination"))).isFalse();
    assertThat(asked).isEqualTo(1);
  }

  private boolean askTwice(Runnable meanwhile) throws IOException {
    FileSystem fs = source.getFileSystem(MemoryFileSystem.configuration());
    CallableRaisingIOE<Boolean> rename =
        new HadoopStore(fs, StoreTraits.ABFS, RequestGate.open())
            .onceOnly(
                source,
                destination,
                () -> {
                  if (++asked == 1) {
                    meanwhile.run();
                    throw new IOException("503");
                  }
                  return true;
                });
    assertThatThrownBy(rename::apply).hasMessage("503");
    return rename.apply();
  }
}
