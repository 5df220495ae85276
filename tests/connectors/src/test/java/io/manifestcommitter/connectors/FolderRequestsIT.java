package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.spark.ManifestCommitProtocol;
import io.manifestcommitter.testing.SparkCalls;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.VersionInfo;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a job commit of the Spark protocol asks of a store whose directories are renamed: for each
 * directory, and not for each file.
 */
class FolderRequestsIT {
  private static final int PARTITIONS = 10;
  private static final int FIXED = 40;

  @ParameterizedTest
  @CsvSource({"ABFS,2", "ABFS,6", "GS_FOLDERS,2", "GS_FOLDERS,6"})
  void newPartitionsCostNoRequestForAFile(EmulatedStore store, int files) throws IOException {
    Path table = store.newRoot("new-partitions");

    Map<String, Long> requests = commit(store, table, files, false);

    System.out.printf(
        "%s, %d new partitions of %d files: %s%n", store, PARTITIONS, files, requests);
    assertThat(total(requests)).isLessThanOrEqualTo(3 * PARTITIONS + FIXED);
    assertThat(files(table.getFileSystem(store.conf()), table)).isEqualTo(expected(files));
  }

  /** An old partition goes by one request on abfs; on gs by one for each file, and four. */
  @ParameterizedTest
  @CsvSource({"ABFS,2,0", "ABFS,6,0", "GS_FOLDERS,2,4", "GS_FOLDERS,6,4"})
  void replacedPartitionsCostNoRequestForANewFile(EmulatedStore store, int files, int forOld)
      throws IOException {
    Path table = store.newRoot("replaced-partitions");
    FileSystem fs = table.getFileSystem(store.conf());
    for (int p = 0; p < PARTITIONS; p++) {
      TableFiles.write(fs, new Path(table, "p=" + p + "/old"), "old");
    }

    Map<String, Long> requests = commit(store, table, files, true);

    System.out.printf(
        "%s, %d replaced partitions, %d new files each: %s%n", store, PARTITIONS, files, requests);
    int old = forOld == 0 ? 0 : PARTITIONS * (forOld + 1);
    // A newer driver asks for the status of what it renames.
    boolean asksFirst = store == EmulatedStore.ABFS && !VersionInfo.getVersion().startsWith("3.3.");
    int forEach = asksFirst ? 9 : 6;
    assertThat(total(requests)).isLessThanOrEqualTo(forEach * PARTITIONS + old + FIXED);
    assertThat(files(fs, table)).isEqualTo(expected(files));
  }

  private static Map<String, Long> commit(
      EmulatedStore store, Path table, int files, boolean isDynamic) throws IOException {
    Configuration conf = store.conf();
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "1h");
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "3h");
    String id = "0b5d8ab4-7f3c-4a53-a4a7-7b6d8e3f1c11";
    SparkCalls calls =
        new SparkCalls(new ManifestCommitProtocol(id, table.toString(), isDynamic), id, conf);
    calls.setUp();
    SparkCalls.Attempt attempt = calls.attempt(0, 0);
    for (int p = 0; p < PARTITIONS; p++) {
      for (int file = 0; file < files; file++) {
        TableFiles.write(
            table.getFileSystem(conf), attempt.newFile("p=" + p, "-" + file + ".txt"), "content");
      }
    }
    List<TaskCommitMessage> messages = new ArrayList<>();
    messages.add(attempt.message());
    store.emulator().log().clear();
    calls.commit(messages);
    return new TreeMap<>(store.emulator().log().counts());
  }

  private static long files(FileSystem fs, Path table) throws IOException {
    return TableFiles.visible(fs, table).keySet().stream()
        .filter(name -> !name.endsWith("/"))
        .count();
  }

  private static long expected(int files) {
    return (long) PARTITIONS * files;
  }

  private static long total(Map<String, Long> requests) {
    return requests.values().stream().mapToLong(Long::longValue).sum();
  }
}
