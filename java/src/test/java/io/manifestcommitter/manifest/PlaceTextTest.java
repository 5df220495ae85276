// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.PathText.PlaceText;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlaceTextTest {
  private static final Path TABLE = new Path("abfs://c@a/w/table");
  private static final PlaceText TEXTS = new PlaceText(TABLE, path -> path);

  @ParameterizedTest
  @CsvSource({
    "abfs://c@a/w/table, .",
    "abfs://c@a/w/table/p=1/f, ./p=1/f",
    "abfs://c@a/w/table2/f, abfs://c@a/w/table2/f",
    "abfs://c@a/w, abfs://c@a/w",
    "abfss://c@a/w/table/f, abfss://c@a/w/table/f",
    "abfs://c@b/w/table/f, abfs://c@b/w/table/f",
    "hdfs://ns/a, hdfs://ns/a",
  })
  void whatIsInTheTableIsRelativeToIt(String path, String text) {
    assertThat(TEXTS.write(new Path(path))).isEqualTo(text);
    assertThat(TEXTS.read(text)).isEqualTo(new Path(path));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a:b", "mailto:x/y", "c:/x", "a b", "100%", "%2e%2e", "#1?x", ".hidden"})
  void everyNameIsReadAsItIs(String name) {
    Path path = new Path("abfs", "c@a", "/w/table/" + name);
    assertThat(TEXTS.read(TEXTS.write(path))).isEqualTo(path);
    Path outside = new Path("abfs", "c@a", "/elsewhere/" + name);
    assertThat(TEXTS.read(TEXTS.write(outside))).isEqualTo(outside);
  }

  @Test
  void theReadersNameOfTheTableIsWhatCounts() {
    PlaceText renamed = new PlaceText(new Path("abfss://c@a/new"), path -> path);
    assertThat(renamed.read(TEXTS.write(TABLE))).isEqualTo(new Path("abfss://c@a/new"));
    assertThat(renamed.read(TEXTS.write(new Path(TABLE, "p=1"))))
        .isEqualTo(new Path("abfss://c@a/new/p=1"));
  }

  @Test
  void theTableMayBeTheRootOfItsStore() {
    PlaceText root = new PlaceText(new Path("abfs://c@a/"), path -> path);
    assertThat(root.write(new Path("abfs://c@a/"))).isEqualTo(".");
    assertThat(root.write(new Path("abfs://c@a/p=1"))).isEqualTo("./p=1");
    assertThat(root.read("./p=1")).isEqualTo(new Path("abfs://c@a/p=1"));
  }

  @Test
  void whatIsOutsideGetsTheReadersNameOfItsStore() {
    PlaceText naming =
        new PlaceText(TABLE, path -> new Path("abfss:" + path.toString().substring(5)));
    assertThat(naming.read("abfs://c@a/elsewhere")).isEqualTo(new Path("abfss://c@a/elsewhere"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "..",
        "./",
        ".//p",
        "./..",
        "./../w",
        "./p/..",
        "./p/../../w",
        "./p//q",
        "./p/",
        "./.",
        "p=1",
        "../w",
        "mailto:x",
        "abfs://c@a/w/../x",
        "%2e/x"
      })
  void whatLeadsElsewhereIsRefused(String text) {
    assertThatThrownBy(() -> TEXTS.read(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
