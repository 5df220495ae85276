// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileEntryTest {
  private static final Path FILE = new Path("file:/t/f");

  @Test
  void anEtagThatIsNullIsEmpty() {
    FileEntry file = new FileEntry(FILE, FILE, 1, null, 0);

    assertThat(file.etag()).isEmpty();
    assertThat(file).isEqualTo(new FileEntry(FILE, FILE, 1, "", 0));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "abfs://c@a.dfs.core.windows.net/t/p=1/f",
        "gs://b/f",
        "gs://b/t/a b/f",
        "gs://b/t/a%20b/f",
        "gs://b/t/\u00fc/f",
        "gs://b/t/a#b/f",
        "hdfs://h:8020/t/f",
        "file:/t/f",
        "file:/f",
        "/t/f"
      })
  void itsDirectoriesAreTheParentsOfItsPaths(String path) {
    for (Path at : new Path[] {new Path(path), PathText.read(new Path(path).toUri().toString())}) {
      FileEntry file = new FileEntry(at, at, 1, null, 0);

      Path parent = at.getParent();
      assertThat(file.sourceDirectory().get()).isEqualTo(parent).hasSameHashCodeAs(parent);
      assertThat(file.destinationDirectory().toUri()).hasToString(parent.toUri().toString());
      assertThat(file.destination()).isEqualTo(at);
      assertThat(file.name()).isEqualTo(at.getName());
    }
  }

  @Test
  void allPartsCountForEquality() {
    FileEntry file = new FileEntry(FILE, FILE, 1, "e", 2);
    Path other = new Path("file:/t/g");

    assertThat(file)
        .isEqualTo(new FileEntry(FILE, FILE, 1, "e", 2))
        .hasSameHashCodeAs(new FileEntry(FILE, FILE, 1, "e", 2))
        .isNotEqualTo(new FileEntry(other, FILE, 1, "e", 2))
        .isNotEqualTo(new FileEntry(FILE, other, 1, "e", 2))
        .isNotEqualTo(new FileEntry(FILE, FILE, 0, "e", 2))
        .isNotEqualTo(new FileEntry(FILE, FILE, 1, "", 2))
        .isNotEqualTo(new FileEntry(FILE, FILE, 1, "e", 0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"t/f", "f", "/", "gs://bucket/", "/../f"})
  void aPathThatIsNoFileOfAStoreIsRefused(String path) {
    assertThatThrownBy(() -> new FileEntry(new Path(path), FILE, 1, null, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(path);
    assertThatThrownBy(() -> new FileEntry(FILE, new Path(path), 1, null, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(path);
  }

  @Test
  void aPathWithAnEncodedWayUpIsRefused() {
    Path up = new Path(URI.create("file:/t/%2e%2e/other"));

    assertThatThrownBy(() -> new FileEntry(FILE, up, 1, null, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'..'");
  }

  @Test
  void aNameThatIsNotUnicodeIsRefused() {
    assertThatThrownBy(() -> new FileEntry(FILE, new Path("file:/t/\ud800"), 1, null, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("UTF-8");
  }

  @Test
  void negativeNumbersAreRefused() {
    assertThatThrownBy(() -> new FileEntry(FILE, FILE, -1, null, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new FileEntry(FILE, FILE, 0, null, -1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new TaskManifest.Directory(FILE, -1))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
