// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.emulator.Onto;
import java.io.IOException;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A directory stands where a file of a job goes. Whatever the store answers to a rename onto it,
 * the job fails and leaves the table as it was.
 */
class OntoDirectoryIT {
  private static final byte[] CONTENT = {1, 2, 3};

  @AfterEach
  void answerAsBefore() {
    EmulatedStore.abfs().onExistingDirectory(Onto.NESTS);
  }

  @ParameterizedTest
  @EnumSource(Onto.class)
  void anEmptyDirectoryInThePlaceOfAFile(Onto answer) throws IOException {
    EmulatedStore.abfs().onExistingDirectory(answer);
    assertThatTheJobFails(EmulatedStore.ABFS, false);
  }

  @ParameterizedTest
  @EnumSource(Onto.class)
  void aDirectoryInThePlaceOfAFile(Onto answer) throws IOException {
    EmulatedStore.abfs().onExistingDirectory(answer);
    assertThatTheJobFails(EmulatedStore.ABFS, true);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void onAStoreThatRefusesIt(boolean withContent) throws IOException {
    assertThatTheJobFails(EmulatedStore.GS, withContent);
  }

  private static void assertThatTheJobFails(EmulatedStore store, boolean withContent)
      throws IOException {
    Configuration conf = store.conf();
    Path table = store.newRoot("table");
    FileSystem fs = table.getFileSystem(conf);
    fs.mkdirs(new Path(table, "p=1/part-0"));
    if (withContent) {
      fs.create(new Path(table, "p=1/part-0/old")).close();
    }
    HadoopProtocolJob job = HadoopProtocolJob.into(table, conf);
    Map<String, Long> before = visible(store, table);
    job.setupJob();
    job.setupTask(0, 0);
    job.write(0, "p=1/part-0", CONTENT);
    job.write(0, "p=1/part-1", CONTENT);
    job.commitTask(0, 0);

    assertThatThrownBy(job::commitJob)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("part-0");
    job.abortJob();
    assertThat(visible(store, table)).isEqualTo(before);
  }

  /** What a reader sees below the table. */
  private static Map<String, Long> visible(EmulatedStore store, Path table) {
    String prefix = table.toUri().getPath() + "/";
    return store.emulator().tree().entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(prefix) && !entry.getKey().equals(prefix))
        .filter(entry -> !entry.getKey().contains("/_"))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }
}
