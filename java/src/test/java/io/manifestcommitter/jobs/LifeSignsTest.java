// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns.Life;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is taken for a sign of life where there is no heartbeat. */
class LifeSignsTest {
  @TempDir java.nio.file.Path directory;

  @ParameterizedTest
  @CsvSource({"0,DEAD", "2,DEAD", "3,UNKNOWN"})
  void onlyAClaimWithoutAHeartbeatIsWatched(int holder, Life life) throws IOException {
    Path table = new Path(directory.toUri());
    Configuration conf = new Configuration();
    StagingRoot root = new StagingRoot(new Stores(conf).resolve(table), "job-1");
    Files.createDirectories(directory.resolve("_manifest_job-1/00"));
    Files.writeString(directory.resolve("_manifest_job-1/00/journal-planned-" + holder), "a plan");
    LifeSigns signs = new LifeSigns(new Stores(conf).all(), new CommitterConfig(conf), () -> 0);

    assertThat(signs.look(root)).isEqualTo(life);
  }
}
