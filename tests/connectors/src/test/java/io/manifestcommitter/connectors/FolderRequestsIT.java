// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.SparkCalls;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
  /** And one for the table itself. */
  private static final int FIXED = 40 + 1;

  @ParameterizedTest
  @CsvSource({
    "ABFS,10,2", "ABFS,10,6", "ABFS,20,20",
    "GS_FOLDERS,10,2", "GS_FOLDERS,10,6", "GS_FOLDERS,20,20"
  })
  void newPartitionsCostNoRequestForAFile(EmulatedStore store, int partitions, int files)
      throws IOException {
    Path table = store.newRoot("new-partitions");

    Map<String, Long> requests = commit(store, table, partitions, files, false);

    System.out.printf(
        "%s, %d new partitions of %d files: %d: %s%n",
        store, partitions, files, total(requests), requests);
    long forEach = asksFirst(store) ? 4 : 3;
    assertThat(total(requests)).isLessThanOrEqualTo(forEach * partitions + FIXED);
    assertThat(files(table.getFileSystem(store.conf()), table))
        .isEqualTo((long) partitions * files);
  }

  /** An old partition goes by one request on abfs; on gs by one for each file, and one more. */
  @ParameterizedTest
  @CsvSource({
    "ABFS,10,2,1", "ABFS,10,6,1", "ABFS,20,20,20",
    "GS_FOLDERS,10,2,1", "GS_FOLDERS,10,6,1", "GS_FOLDERS,20,20,20"
  })
  void replacedPartitionsCostNoRequestForANewFile(
      EmulatedStore store, int partitions, int files, int oldFiles) throws IOException {
    Path table = store.newRoot("replaced-partitions");
    FileSystem fs = table.getFileSystem(store.conf());
    Store writer = new Stores(store.conf()).all();
    for (int p = 0; p < partitions; p++) {
      for (int file = 0; file < oldFiles; file++) {
        writer.write(new Path(table, "p=" + p + "/old-" + file), out -> out.write(1));
      }
    }

    Map<String, Long> requests = commit(store, table, partitions, files, true);

    System.out.printf(
        "%s, %d replaced partitions of %d files, %d new files each: %d: %s%n",
        store, partitions, oldFiles, files, total(requests), requests);
    long forOld = store == EmulatedStore.ABFS ? 0 : (long) partitions * (oldFiles + 1);
    long forEach = asksFirst(store) ? 9 : 6;
    assertThat(total(requests)).isLessThanOrEqualTo(forEach * partitions + forOld + FIXED);
    assertThat(files(fs, table)).isEqualTo((long) partitions * files);
  }

  /** A newer driver asks for the status of what it renames. */
  private static boolean asksFirst(EmulatedStore store) {
    return store == EmulatedStore.ABFS && !VersionInfo.getVersion().startsWith("3.3.");
  }

  /** What is in the table already, and how many partitions it has, costs no request for a file. */
  @ParameterizedTest
  @CsvSource({"GS,1,100", "GS,10,40", "GS_FOLDERS,10,40"})
  void anAppendToPartitionsThatAreThereCostsOneRequestForAFile(
      EmulatedStore store, int partitions, int files) throws IOException {
    Path table = store.newRoot("appended-partitions");
    FileSystem fs = table.getFileSystem(store.conf());
    for (int p = 0; p < partitions; p++) {
      TableFiles.write(fs, new Path(table, "p=" + p + "/old"), "old");
    }

    Map<String, Long> requests = commit(store, table, partitions, files, false);

    System.out.printf(
        "%s, append of %d files to %d partitions: %d: %s%n",
        store, partitions * files, partitions, total(requests), requests);
    // The report and the list of files are moved, too, or the last ones out of the way.
    assertThat(requests.get("move"))
        .isBetween((long) partitions * files, (long) partitions * files + 8);
    long besides = total(requests) - requests.get("move");
    assertThat(besides).isLessThanOrEqualTo(5L * partitions + 60);
    assertThat(files(fs, table)).isEqualTo((long) partitions * (files + 1));
  }

  /** The hashes of the files are in the listing, and each is moved by one request. */
  @ParameterizedTest
  @CsvSource({"GS", "GS_FOLDERS"})
  void theHadoopProtocolCostsOneRequestForAFileInAll(EmulatedStore store) throws IOException {
    Map<String, Long> few = hadoopCommits(store, 5);
    Map<String, Long> many = hadoopCommits(store, 25);

    System.out.printf("%s, tasks and jobs of 5 and of 25 files: %s, %s%n", store, few, many);
    assertThat(many.get("task")).isEqualTo(few.get("task")).isLessThanOrEqualTo(10);
    assertThat(many.get("job") - few.get("job")).isEqualTo(20);
  }

  /** The requests of the commits of one task and its job, into one new partition. */
  private static Map<String, Long> hadoopCommits(EmulatedStore store, int files)
      throws IOException {
    HadoopProtocolJob job = HadoopProtocolJob.into(store.newRoot("hadoop-protocol"), store.conf());
    job.setupJob();
    job.setupTask(0, 0);
    for (int file = 0; file < files; file++) {
      job.write(0, "p=1/part-" + file, "content".getBytes(StandardCharsets.UTF_8));
    }
    Map<String, Long> requests = new TreeMap<>();
    store.emulator().log().clear();
    job.commitTask(0, 0);
    requests.put("task", total(store.emulator().log().counts()));
    store.emulator().log().clear();
    job.commitJob();
    requests.put("job", total(store.emulator().log().counts()));
    return requests;
  }

  private static Map<String, Long> commit(
      EmulatedStore store, Path table, int partitions, int files, boolean isDynamic)
      throws IOException {
    Configuration conf = store.conf();
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "1h");
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "3h");
    String id = "0b5d8ab4-7f3c-4a53-a4a7-7b6d8e3f1c11";
    SparkCalls calls = SparkCalls.of(conf, table, id, isDynamic).setUp();
    SparkCalls.Attempt attempt = calls.attempt(0, 0);
    // By fewer requests than a filesystem takes.
    Store writer = new Stores(conf).all();
    for (int p = 0; p < partitions; p++) {
      for (int file = 0; file < files; file++) {
        writer.write(attempt.newFile("p=" + p, "-" + file + ".txt"), out -> out.write(1));
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

  private static long total(Map<String, Long> requests) {
    return requests.values().stream().mapToLong(Long::longValue).sum();
  }
}
