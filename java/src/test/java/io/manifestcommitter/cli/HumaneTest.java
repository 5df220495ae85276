// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HumaneTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0|0 bytes",
        "1|1 byte",
        "1023|1,023 bytes",
        "1024|1.0 KiB (1,024 bytes)",
        "1048575|1.0 MiB (1,048,575 bytes)",
        "1234567890|1.1 GiB (1,234,567,890 bytes)",
        "9223372036854775807|8.0 EiB (9,223,372,036,854,775,807 bytes)"
      })
  void bytesHaveUnits(long bytes, String text) {
    assertThat(Humane.bytes(bytes)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "0,0 ms",
    "999,999 ms",
    "1000,1.0 s",
    "59900,59.9 s",
    "59990,1 min 0 s",
    "125000,2 min 5 s",
    "3600000,1 h 0 min",
    "7380000,2 h 3 min"
  })
  void durationsHaveUnits(long millis, String text) {
    assertThat(Humane.millis(millis)).isEqualTo(text);
  }

  @Test
  void aNameStaysOnItsLine() {
    assertThat(Humane.line("plain 日本 🦆")).isEqualTo("plain 日本 🦆");
    assertThat(Humane.line("a\nb\tc")).isEqualTo("a\\nb\\tc");
    assertThat(Humane.line("\u001b[31m\u202e\ud800")).isEqualTo("\\u001b[31m\\u202e\\ud800");
  }
}
