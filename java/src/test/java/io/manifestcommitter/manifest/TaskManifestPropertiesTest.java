// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

class TaskManifestPropertiesTest {
  private static final String ORIGIN = "hdfs://nn/t/task_1-manifest.json";

  @Provide
  Arbitrary<TaskManifest> manifests() {
    return Manifests.manifests();
  }

  @Property(tries = 500)
  void whatIsWrittenIsReadBackEqual(@ForAll("manifests") TaskManifest manifest) throws IOException {
    TaskManifest read = TaskManifest.parse(manifest.toJson(), ORIGIN);

    assertThat(Manifests.text(read)).isEqualTo(Manifests.text(manifest));
    assertThat(read.files).isEqualTo(manifest.files);
  }

  @Example
  void everyFlippedBitIsNoticedOrHarmless() {
    byte[] json = Manifests.SAMPLE.toJson();
    int noticed = 0;
    for (int bit = 0; bit < 8 * json.length; bit++) {
      byte[] damaged = json.clone();
      damaged[bit / 8] ^= (byte) (1 << (bit % 8));
      noticed += isSame(damaged, Manifests.SAMPLE) ? 0 : 1;
    }
    assertThat(noticed).isGreaterThan(json.length * 7);
  }

  @Property(tries = 100)
  void overwrittenBytesAreNoticed(
      @ForAll("manifests") TaskManifest manifest,
      @ForAll @IntRange(min = 1, max = 64) int length,
      @ForAll long seed) {
    byte[] json = manifest.toJson();
    Random random = new Random(seed);
    for (int round = 0; round < 20; round++) {
      byte[] damaged = json.clone();
      byte[] noise = new byte[length];
      random.nextBytes(noise);
      System.arraycopy(noise, 0, damaged, random.nextInt(json.length - length), length);
      isSame(damaged, manifest);
    }
  }

  @Property(tries = 100)
  void lostAndRepeatedBytesAreNoticed(
      @ForAll("manifests") TaskManifest manifest, @ForAll long seed) {
    byte[] json = manifest.toJson();
    Random random = new Random(seed);
    for (int round = 0; round < 20; round++) {
      int from = random.nextInt(json.length);
      int to = random.nextInt(json.length);
      byte[] damaged = Arrays.copyOf(json, json.length - to + from);
      System.arraycopy(json, to, damaged, from, json.length - to);
      isSame(damaged, manifest);
    }
  }

  @Property(tries = 100)
  void truncationIsNoticedAtEveryLength(@ForAll("manifests") TaskManifest manifest) {
    byte[] json = manifest.toJson();
    int step = 1 + json.length / 200;
    for (int length = 0; length < json.length; length += step) {
      assertThat(isCorrupt(Arrays.copyOf(json, length))).isTrue();
    }
  }

  @Property(tries = 500)
  void noiseIsNoticed(@ForAll byte[] noise) {
    assertThat(isCorrupt(noise)).isTrue();
  }

  /** Whether what is read says the same; if it cannot be read, the message names the file. */
  private static boolean isSame(byte[] damaged, TaskManifest original) {
    try {
      assertThat(Manifests.text(TaskManifest.parse(damaged, ORIGIN)))
          .isEqualTo(Manifests.text(original));
      return true;
    } catch (CorruptManifestException e) {
      assertThat(e).hasMessageStartingWith(ORIGIN);
      return false;
    }
  }

  private static boolean isCorrupt(byte[] json) {
    try {
      TaskManifest.parse(json, ORIGIN);
      return false;
    } catch (CorruptManifestException e) {
      return e.getMessage().startsWith(ORIGIN);
    }
  }
}
