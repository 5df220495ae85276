// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.PathText;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StorePathsTest {
  @ParameterizedTest
  @CsvSource({
    "file:/t/a, file:/t/a/b, true",
    "file:/t/a, file:/t/a/b/c, true",
    "file:/, file:/t, true",
    "gs://b/t, gs://b/t/p=1/f, true",
    "file:/t/a, file:/t/a/..b, true",
    "file:/t/a, file:/t/a/.b, true",
    "file:/t/a, file:/t/ab, false",
    "file:/t/a, file:/t/ab/c, false",
    "file:/t/a/b, file:/t/a, false",
    "file:/t/a, gs://b/t/a/b, false",
    "gs://b1/t, gs://b2/t/a, false",
    "abfs://c@a/t, abfss://c@a/t/x, false",
    "file:/t/a, /t/a/b, false"
  })
  void whatIsBelow(Path ancestor, Path path, boolean isBelow) {
    assertThat(StorePaths.isBelow(ancestor, path)).isEqualTo(isBelow);
    assertThat(StorePaths.isSameOrBelow(ancestor, path)).isEqualTo(isBelow);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "part-00000-c.snappy.parquet",
        "p=1",
        "a b",
        "a%20b",
        "a:b",
        "a+b",
        "a~b",
        "\u00fc",
        "a#b",
        "a?b",
        "p=1/q=2/part-0",
        "..b",
        "_SUCCESS"
      })
  void whatIsResolvedIsThePathOfItsParts(String relative) {
    for (String parent :
        new String[] {
          "abfs://c@a.dfs.core.windows.net/t",
          "abfs://c@a/t/p=a b%2F",
          "gs://b/",
          "hdfs://h:8020/t",
          "file:/t",
          "file:///t",
          "/t"
        }) {
      for (Path above : new Path[] {new Path(parent), new Path(new Path(parent).toUri())}) {
        String prefix = above.toUri().getPath();
        Path expected =
            new Path(
                above.toUri().getScheme(),
                above.toUri().getAuthority(),
                (prefix.endsWith("/") ? prefix : prefix + "/") + relative);
        Path resolved = StorePaths.resolve(above, relative);
        assertThat(resolved).isEqualTo(expected);
        assertThat(resolved.toUri()).hasToString(expected.toUri().toString());
        assertThat(resolved).hasSameHashCodeAs(expected);
      }
    }
  }

  @Test
  void aPathIsNotBelowItself() {
    Path path = new Path("gs://b/t");
    assertThat(StorePaths.isBelow(path, path)).isFalse();
    assertThat(StorePaths.isSameOrBelow(path, path)).isTrue();
  }

  @Test
  void aWayBackUpLeadsNowhere() {
    Path root = new Path("file:/");
    Path escaping = new Path("file", null, "/../etc");

    assertThat(escaping.toUri().getPath()).as("what Hadoop leaves in a path").contains("..");
    assertThat(StorePaths.isBelow(root, escaping)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "file:/t, file:/t/a/b, a/b",
    "file:/, file:/t, t",
    "gs://b/t, gs://b/t/p=a%20b/f:1, p=a%20b/f:1"
  })
  void relativeIsThePartBelow(String ancestor, String path, String relative) {
    assertThat(StorePaths.relative(new Path(ancestor), new Path(path))).isEqualTo(relative);
  }

  @Test
  void relativeRefusesWhatIsNotBelowNamingBoth() {
    assertThatThrownBy(() -> StorePaths.relative(new Path("file:/t/a"), new Path("file:/t/ab")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("file:/t/ab", "file:/t/a");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "f",
        "p=1/f",
        "time=12:30:00/part-0",
        "a:b",
        "hdfs:x/y",
        "with space/f",
        "100%/f",
        "%2F/f",
        "a#b/f?g",
        "ä/日本/😀"
      })
  void resolveIsTheWayBackFromRelative(String relative) {
    Path table = new Path("abfss://c@a.dfs.core.windows.net/w/t");
    Path resolved = StorePaths.resolve(table, relative);

    assertThat(StorePaths.isBelow(table, resolved)).isTrue();
    assertThat(StorePaths.sameStore(table, resolved)).isTrue();
    assertThat(StorePaths.relative(table, resolved)).isEqualTo(relative);
  }

  @Test
  void resolveWorksAtTheRootOfAStoreAndForNothing() {
    assertThat(StorePaths.resolve(new Path("file:/"), "a/b")).isEqualTo(new Path("file:/a/b"));
    assertThat(StorePaths.resolve(new Path("file:/t"), "")).isEqualTo(new Path("file:/t"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a/..", "../a", "a/./b", "a//b", "/a", "a/"})
  void dotSegmentsAreFound(String relative) {
    assertThat(PathText.hasDotSegment(relative)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "a/b", "...", ".a", "a.", "..a/b..", "%2e%2e/x"})
  void otherSegmentsAreNot(String relative) {
    assertThat(PathText.hasDotSegment(relative)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "file:/a, file:///b, true",
    "gs://b/x, gs://b/y, true",
    "gs://b/x, gs://c/x, false",
    "gs://b/x, hdfs://b/x, false",
    "/a, /b, true",
    "/a, file:/a, false"
  })
  void sameStoreComparesSchemeAndAuthority(String one, String other, boolean same) {
    assertThat(StorePaths.sameStore(new Path(one), new Path(other))).isEqualTo(same);
    assertThat(StorePaths.sameStore(new Path(other), new Path(one))).isEqualTo(same);
  }
}
