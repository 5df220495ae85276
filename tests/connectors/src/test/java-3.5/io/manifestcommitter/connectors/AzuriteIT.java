// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.manifestcommitter.store.UnsupportedStoreException;
import java.nio.file.Paths;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A flat account on a server that is not ours, through the driver's Blob endpoint. The driver can
 * write there; the committer refuses to.
 */
@Tag("azurite")
class AzuriteIT {
  private static Azurite azurite;

  @BeforeAll
  static void start() throws Exception {
    assumeTrue(Azurite.canBeInstalled(), "Azurite needs npm, which cannot be run here");
    azurite = Azurite.start(Paths.get(System.getProperty("azurite.directory")));
  }

  @AfterAll
  static void stop() {
    if (azurite != null) {
      azurite.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "false"})
  void aFlatAccountIsRefused(String hierarchical) throws Exception {
    Configuration conf = conf();
    if (!hierarchical.isEmpty()) {
      conf.set("fs.azure.account.hns.enabled", hierarchical);
    }
    Path container = new Path("abfs://data@" + Azurite.ACCOUNT + "/");
    Path table = new Path(container, "table");

    OwnFileSystems.run(
        () -> {
          FileSystem fs = container.getFileSystem(conf);
          assertThat(fs.mkdirs(new Path(container, "written"))).isTrue();
          assertThatThrownBy(() -> HadoopProtocolJob.into(table, conf).setupJob())
              .isInstanceOf(UnsupportedStoreException.class)
              .hasMessageContaining(table.toString())
              .hasMessageContaining("hierarchical namespace");
          assertThat(fs.exists(table)).isFalse();
          return null;
        });
  }

  private static Configuration conf() {
    Configuration conf = new Configuration();
    conf.set("fs.azure.abfs.endpoint", azurite.endpoint());
    conf.set("fs.azure.always.use.https", "false");
    conf.set("fs.azure.account.auth.type", "SharedKey");
    conf.set("fs.azure.account.key." + Azurite.ACCOUNT, Azurite.KEY);
    conf.set("fs.azure.fns.account.service.type", "BLOB");
    conf.set("fs.azure.createRemoteFileSystemDuringInitialization", "true");
    conf.set("fs.azure.networking.library", "JDK_HTTP_URL_CONNECTION");
    conf.set("fs.azure.enable.autothrottling", "false");
    conf.set("fs.azure.io.retry.max.retries", "1");
    return conf;
  }
}
