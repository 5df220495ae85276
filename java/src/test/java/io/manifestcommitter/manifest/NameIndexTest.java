// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class NameIndexTest {
  /** Names that are easily taken for one another, each in one of few directories. */
  @Provide
  Arbitrary<List<Map.Entry<Integer, String>>> names() {
    Arbitrary<String> name =
        Arbitraries.strings().withChars('\0', 'a', 'b', '\uffff').ofMaxLength(8);
    Arbitrary<Integer> directory = Arbitraries.of(0, 1, 2, Integer.MAX_VALUE);
    return Combinators.combine(directory, name).as(Map::entry).list().ofMaxSize(400);
  }

  @Property
  void numbersAreGivenInOrderAndFoundAgain(
      @ForAll("names") List<Map.Entry<Integer, String>> names) {
    NameIndex index = new NameIndex();
    Map<Map.Entry<Integer, String>, Integer> expected = new HashMap<>();
    for (Map.Entry<Integer, String> name : names) {
      assertThat(index.find(name.getKey(), name.getValue()))
          .isEqualTo(expected.getOrDefault(name, -1));
      boolean isNew = expected.putIfAbsent(name, expected.size()) == null;
      assertThat(index.add(name.getKey(), name.getValue())).isEqualTo(isNew);
    }
    assertThat(index.count()).isEqualTo(expected.size());
    expected.forEach(
        (name, number) -> assertThat(index.find(name.getKey(), name.getValue())).isEqualTo(number));
  }

  @Example
  void aMillionNamesAreToldApart() {
    NameIndex index = new NameIndex();
    for (int i = 0; i < 1_000_000; i++) {
      assertThat(index.add(i % 7, "part-" + i)).isTrue();
    }
    assertThat(index.find(0, "part-1")).isEqualTo(-1);
    assertThat(index.find(1, "part-1")).isEqualTo(1);
  }
}
