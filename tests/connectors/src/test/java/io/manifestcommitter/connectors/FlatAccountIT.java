// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.connectors.EmulatedStore.OwnFileSystems;
import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.store.UnsupportedStoreException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An account without hierarchical namespace is refused before anything is written to it. */
class FlatAccountIT {
  private static final String HNS = "fs.azure.account.hns.enabled";

  @Test
  void anAccountThatSaysItIsFlat() throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      emulator.flat(true);
      Configuration conf = EmulatedStore.conf(emulator);
      conf.unset(HNS);

      assertThatJobIsRefused(emulator, conf, Map.of("acl", 1L));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anAccountThatIsConfiguredAsFlat(boolean flat) throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      emulator.flat(flat);
      Configuration conf = EmulatedStore.conf(emulator);
      conf.setBoolean(HNS, false);

      assertThatJobIsRefused(emulator, conf, Map.of());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {HNS, HNS + ".%s"})
  void aFlatAccountThatIsConfiguredAsHierarchical(String key) throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      emulator.flat(true);
      Configuration conf = EmulatedStore.conf(emulator);
      conf.unset(HNS);
      conf.setBoolean(String.format(key, emulator.root().getHost()), true);

      assertThatJobIsRefused(emulator, conf, Map.of("acl", 1L));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {403, 500})
  void anAccountThatDoesNotSayIsBelievedToBeAsConfigured(int status) throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      Configuration conf = EmulatedStore.conf(emulator);
      conf.setBoolean(HNS, true);
      emulator.faults().add(FaultRule.on("acl").always().refuse(status));

      OwnFileSystems.run(
          () -> {
            job(emulator, conf).setupJob();
            return null;
          });
      assertThat(emulator.log().counts()).containsKey("acl");
    }
  }

  @Test
  void anAccountThatHasTheNamespaceAndIsAsked() throws Exception {
    try (AbfsEmulator emulator = AbfsEmulator.start()) {
      Configuration conf = EmulatedStore.conf(emulator);
      conf.unset(HNS);

      OwnFileSystems.run(
          () -> {
            job(emulator, conf).setupJob();
            return null;
          });
      assertThat(emulator.log().counts()).containsEntry("acl", 1L);
    }
  }

  /** It is refused with so many requests, and nothing is written. */
  private static void assertThatJobIsRefused(
      AbfsEmulator emulator, Configuration conf, Map<String, Long> requests) throws Exception {
    Map<String, Long> before = emulator.tree();
    OwnFileSystems.run(
        () -> {
          assertThatThrownBy(() -> job(emulator, conf).setupJob())
              .isInstanceOf(UnsupportedStoreException.class)
              .hasMessageContainingAll(emulator.root() + "table", "hierarchical namespace", HNS);
          assertThat(emulator.log().counts()).isEqualTo(requests);
          return null;
        });
    assertThat(emulator.tree()).isEqualTo(before);
  }

  private static HadoopProtocolJob job(AbfsEmulator emulator, Configuration conf) {
    return HadoopProtocolJob.into(new Path(new Path(emulator.root()), "table"), conf);
  }
}
