// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What the properties try at random, in full for one manifest. */
class SingleByteDamageTest {
  private static final String ORIGIN = "file:/t/task_1-manifest.json";

  @Test
  void everyFlippedBitIsNoticedOrHarmless() {
    byte[] json = Manifests.SAMPLE.toJson();
    int noticed = 0;
    for (int i = 0; i < json.length; i++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] damaged = json.clone();
        damaged[i] ^= (byte) (1 << bit);
        try {
          assertThat(Manifests.text(TaskManifest.parse(damaged, ORIGIN)))
              .isEqualTo(Manifests.text(Manifests.SAMPLE));
        } catch (CorruptManifestException e) {
          assertThat(e).hasMessageStartingWith(ORIGIN);
          noticed++;
        }
      }
    }
    assertThat(noticed).isGreaterThan(json.length * 7);
  }
}
