// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.GcsClient.Answer;
import org.junit.jupiter.api.Test;

final class GcsPreconditionsTest extends GcsTest {
  @Test
  void matchZeroMakesAnObjectOnlyOnce() throws Exception {
    assertThat(client.insert("f", "first", "&ifGenerationMatch=0").status()).isEqualTo(200);

    Answer second = client.insert("f", "second", "&ifGenerationMatch=0");

    assertThat(second.status()).isEqualTo(412);
    assertThat(second.reason()).isEqualTo("conditionNotMet");
    assertThat(client.content("f")).isEqualTo("first");
  }

  @Test
  void anOverwriteCanBeTiedToAGeneration() throws Exception {
    String old = client.insert("f", "first").get("generation");
    String live = client.insert("f", "second").get("generation");
    assertThat(Long.parseLong(live)).isGreaterThan(Long.parseLong(old));

    assertThat(client.insert("f", "x", "&ifGenerationMatch=" + old).status()).isEqualTo(412);
    assertThat(client.insert("f", "x", "&ifGenerationNotMatch=" + live).status()).isEqualTo(412);
    assertThat(client.insert("none", "x", "&ifGenerationMatch=" + live).status()).isEqualTo(412);
    assertThat(client.insert("f", "third", "&ifGenerationMatch=" + live).status()).isEqualTo(200);
    assertThat(client.content("f")).isEqualTo("third");
  }

  @Test
  void ofAWriteEveryConditionButMatchZeroWantsAnObjectThere() throws Exception {
    assertThat(client.insert("n", "x", "&ifGenerationNotMatch=0").status()).isEqualTo(412);
    assertThat(client.insert("n", "x", "&ifMetagenerationMatch=1").status()).isEqualTo(412);
    assertThat(client.insert("n", "x", "&ifMetagenerationNotMatch=1").status()).isEqualTo(412);
    assertThat(emulator.tree()).isEmpty();
  }

  @Test
  void conditionsThatCannotBeReadAreNotIgnored() throws Exception {
    assertThat(client.insert("f", "x", "&ifGenerationMatch=abc").status()).isEqualTo(400);
    assertThat(client.insert("f", "x", "&ifGenerationMatch=0&ifGenerationNotMatch=1").status())
        .isEqualTo(400);
    assertThat(emulator.tree()).isEmpty();
  }
}
