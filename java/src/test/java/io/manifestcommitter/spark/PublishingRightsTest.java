// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.LocalGround;
import io.manifestcommitter.testing.TableWrite;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What is made below a partition inherits its rights from there, also if it was staged elsewhere.
 */
class PublishingRightsTest {
  private static final String TABLES = "rwxr-xr-x";

  @ParameterizedTest
  @CsvSource({TABLES + ",true", "rwxrwxr-x,false", "rwx------,false"})
  void aDirectoryIsRenamedOnlyToWhereTheTablesRightsHold(
      String partitions, boolean isRenamed, @TempDir File root) throws IOException {
    Path partition = Files.createDirectories(root.toPath().resolve("table/p=1"));
    Files.setPosixFilePermissions(partition.getParent(), PosixFilePermissions.fromString(TABLES));
    Files.setPosixFilePermissions(partition, PosixFilePermissions.fromString(partitions));
    LocalGround store = new LocalGround(root);
    DriverJob job =
        new DriverJob(store, JOB_ID)
            .setUp(TableWrite.append().with(Map.of("/table/p=1/q=1/f", "new")));
    List<Object> messages = job.messages();
    List<String> renamed = new ArrayList<>();
    store.onRequest(
        (number, operation, path) -> {
          if (operation.equals("rename") && path.contains("/sealed/")) {
            renamed.add(path.substring(path.indexOf("/sealed/")));
          }
          return Fate.NORMAL;
        });

    job.commit(messages);

    assertThat(renamed).containsExactly("/sealed/p=1/q=1" + (isRenamed ? "" : "/f"));
    assertThat(partition.resolve("q=1/f")).hasContent("new");
  }
}
