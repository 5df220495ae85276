// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.plan.JobPlanner.PathHashes;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class PathHashesTest {
  private final PathHashes hashes = new PathHashes();

  @Test
  void whatWasAddedIsKnownAndOthersAreNot() {
    for (int i = 0; i < 100_000; i += 2) {
      add(hashes, path(i));
    }
    for (int i = 0; i < 100_000; i += 2) {
      assertThat(hashes.mayContain(PathHashes.hash(path(i)))).isTrue();
      assertThat(hashes.mayContain(PathHashes.hash(path(i + 1)))).isFalse();
    }
    assertThat(hashes.repeated()).isEmpty();
  }

  @Test
  void whatWasAddedTwiceIsRepeated() {
    for (int i = 0; i < 5_000; i++) {
      add(hashes, path(i));
    }
    add(hashes, path(17));
    add(hashes, path(4_999));
    add(hashes, path(17));

    assertThat(hashes.repeated())
        .containsExactlyInAnyOrder(PathHashes.hash(path(17)), PathHashes.hash(path(4_999)));
  }

  @Test
  void pathsThatDifferInOneCharacterDiffer() {
    Set<Long> seen = new HashSet<>();
    for (char c = ' '; c < 0x3000; c++) {
      if (c != '/') {
        seen.add(PathHashes.hash(new Path("gs", "b", "/t/p=" + c)));
      }
    }
    assertThat(seen).hasSize(0x3000 - ' ' - 1);
  }

  private static Path path(int i) {
    return new Path("abfs://c@a/t/p=" + i % 100 + "/part-" + i);
  }

  private static void add(PathHashes hashes, Path file) {
    hashes.add(file.getParent(), file.getName());
  }
}
