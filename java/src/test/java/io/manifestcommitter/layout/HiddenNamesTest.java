// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.layout;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HiddenNamesTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "_SUCCESS",
        "_temporary",
        "_manifest_1",
        ".crc",
        ".p=1",
        ".",
        "_",
        "_metadata",
        "a._COPYING_"
      })
  void aReaderPassesOver(String name) {
    assertThat(StagingRoot.isHidden(name)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"part-0", "p=1", "_p=1", "_manifest_=1", "a_b", "a.b", "p=_1", "p=.1"})
  void aReaderSees(String name) {
    assertThat(StagingRoot.isHidden(name)).isFalse();
  }
}
