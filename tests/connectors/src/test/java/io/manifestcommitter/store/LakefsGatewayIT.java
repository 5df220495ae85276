// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.connectors.EmulatedStore;
import io.manifestcommitter.emulator.LakefsEmulator;
import io.manifestcommitter.emulator.S3Emulator;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** lakeFS's gateway through hadoop-aws, where nothing names its API. */
class LakefsGatewayIT {
  private static final Path TABLE = new Path("s3a://lake/main/table");

  private final S3Emulator s3 = EmulatedStore.s3();
  private final LakefsEmulator lakefs = start(s3);
  private final Configuration conf = EmulatedStore.S3A.conf();

  LakefsGatewayIT() {
    conf.set("fs.s3a.bucket.lake.endpoint", "http://127.0.0.1:" + lakefs.port());
    conf.setBoolean("fs.s3a.impl.disable.cache", true);
  }

  private static LakefsEmulator start(S3Emulator s3) {
    try {
      return LakefsEmulator.start(s3);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterEach
  void stop() {
    lakefs.close();
  }

  @Test
  void itIsRefusedBeforeAnythingIsWritten() {
    assertThatThrownBy(() -> new Stores(conf).requireSafeRename(TABLE))
        .isInstanceOf(UnsupportedStoreException.class)
        .hasMessageContaining(TABLE.toString())
        .hasMessageContaining(LakefsGateway.setting("lake"))
        .hasMessageContaining("/api/v1");
    assertThat(lakefs.tree()).isEmpty();
  }

  @Test
  void itIsNotAskedWhereItsApiIsNamed() throws IOException {
    conf.set(LakefsGateway.setting("lake"), "http://127.0.0.1:" + lakefs.port() + "/api/v1");

    new Stores(conf).requireSafeRename(TABLE);

    assertThat(lakefs.log().counts()).doesNotContainKey("healthcheck");
  }

  @Test
  void otherServersAreServed() throws IOException {
    new Stores(conf).requireSafeRename(EmulatedStore.S3A.newRoot("served"));

    assertThat(s3.log().counts()).doesNotContainKey("unknown");
  }
}
