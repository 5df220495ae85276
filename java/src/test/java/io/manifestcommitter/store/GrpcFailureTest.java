// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.cloud.hadoop.fs.gcs.gax.rpc.UnavailableException;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.IOException;
import java.net.URI;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** What drivers throw that speak gRPC. */
class GrpcFailureTest {
  @Test
  void itsStatusIsThatOfHttp() {
    IOException failure = new IOException(new UnavailableException());

    assertThat(DriverCall.isAmong(Set.of(503), failure)).isTrue();
    assertThat(DriverCall.isRefusal(failure)).isTrue();
    assertThat(DriverCall.isAmong(Set.of(429), failure)).isFalse();
  }

  @Test
  void aDeletionThatGetsNoAnswerNamesTheEndpointAndTheWayAround() throws IOException {
    try (Unreachable fs = new Unreachable()) {
      fs.initialize(URI.create("gs://bucket/"), new Configuration());
      GcsStore store = new GcsStore(fs, fs.getConf(), RequestGate.open());

      assertThatThrownBy(() -> store.deleteTree(new Path("gs://bucket/table/_manifest_x")))
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll(
              "gs://bucket/table/_manifest_x",
              "storage.googleapis.com:443",
              "fs.gs.hierarchical.namespace.folders.enable")
          .hasRootCauseInstanceOf(UnavailableException.class);
    }
  }

  /** Its deletions go by gRPC, which is blocked. */
  private static final class Unreachable extends FilterFileSystem {
    Unreachable() {
      super(new MemoryFileSystem());
    }

    @Override
    public boolean delete(Path path, boolean recursive) {
      throw new UnavailableException();
    }
  }
}
