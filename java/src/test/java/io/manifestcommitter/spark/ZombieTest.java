// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.spark.ZombieTrial.Kind;
import io.manifestcommitter.spark.ZombieTrial.Moment;
import java.io.IOException;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Attempts that Spark gave up on and that go on writing, on a local disk: there an open stream
 * outlives the seal, and goes with its file wherever that goes.
 */
class ZombieTest {
  private static volatile Consumer<Path> beforeRename = source -> {};

  @AfterEach
  void doNothing() {
    beforeRename = source -> {};
  }

  @ParameterizedTest
  @CsvSource({
    "APPEND,auto,true", "APPEND,off,true", "APPEND,auto,false",
    "STATIC,auto,true", "STATIC,off,false", "STATIC,auto,false",
    "DYNAMIC,auto,true", "DYNAMIC,off,true", "DYNAMIC,auto,false"
  })
  void whatTheyWriteNeverBecomesVisible(
      Kind kind, String directoryRename, boolean checksums, @TempDir java.nio.file.Path directory)
      throws IOException {
    Configuration conf = new Configuration(false);
    Class<?> fs = checksums ? Checked.class : Raw.class;
    conf.set("fs.file.impl", fs.getName());
    conf.setBoolean("fs.file.impl.disable.cache", true);
    Path table = new Path("file:" + directory + "/table");
    ZombieTrial trial = new ZombieTrial(conf, table, kind, directoryRename);
    beforeRename =
        source -> {
          for (Moment moment : Moment.values()) {
            if (moment.isFrom(source)) {
              trial.at(moment);
            }
          }
        };

    trial.commit();
    trial.end();

    assertThat(trial.moments()).containsExactly(Moment.values());
    assertThat(trial.begun()).isEqualTo(6 * 5);
    assertThat(trial.refused()).as("streams that did not outlive something").isZero();
  }

  /** Hadoop's local filesystem as users have it. */
  public static final class Checked extends LocalFileSystem {
    @Override
    public boolean rename(Path source, Path destination) throws IOException {
      beforeRename.accept(source);
      return super.rename(source, destination);
    }
  }

  /** The one without checksums. */
  public static final class Raw extends RawLocalFileSystem {
    @Override
    public boolean rename(Path source, Path destination) throws IOException {
      beforeRename.accept(source);
      return super.rename(source, destination);
    }
  }
}
