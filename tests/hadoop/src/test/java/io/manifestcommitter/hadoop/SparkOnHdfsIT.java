// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.testing.Failures;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.RequestFaults;
import io.manifestcommitter.testing.SparkWrite;
import io.manifestcommitter.testing.SparkWrite.End;
import io.manifestcommitter.testing.TableFiles;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The Spark protocol where HDFS refuses what others allow: snapshots, encryption zones, quotas; and
 * attempts that go on writing while the job commits.
 */
class SparkOnHdfsIT extends OnHdfs {
  private String told = "";

  @ParameterizedTest
  @CsvSource({
    "append,auto", "append,off",
    "static,auto", "static,off",
    "partition,auto", "partition,off",
    "dynamic,auto", "dynamic,off"
  })
  void aPartitionWithSnapshotsIsWrittenFileByFile(String kind, String directoryRename)
      throws Exception {
    Configuration conf = hdfs.conf(directoryRename);
    Path table = table("snapshots-" + kind + directoryRename);
    Path partition = new Path(table, "p=1");
    hdfs.fs().allowSnapshot(partition);
    hdfs.fs().createSnapshot(partition, "before");
    long id = hdfs.fileId(partition);

    SparkWrite write = SparkWrite.begin(conf, table, kind).task(0, "p=1", "p=3");

    assertThat(end(write, conf, table)).as(told).isEqualTo(End.COMMITTED);
    assertThat(hdfs.fileId(partition)).isEqualTo(id);
    assertThat(hdfs.read(new Path(partition, ".snapshot/before/old"))).isEqualTo("old");
  }

  /** The partition that the job has no rows for is not removed, but emptied. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void aPartitionWithSnapshotsThatGoesIsEmptied(String directoryRename) throws Exception {
    Configuration conf = hdfs.conf(directoryRename);
    Path table = table("snapshots-gone-" + directoryRename);
    Path partition = new Path(table, "p=2");
    hdfs.fs().allowSnapshot(partition);
    hdfs.fs().createSnapshot(partition, "before");

    SparkWrite write = SparkWrite.begin(conf, table, "static").task(0, "p=1");

    assertThat(end(write, conf, table)).as(told).isEqualTo(End.COMMITTED);
    assertThat(hdfs.read(new Path(partition, ".snapshot/before/x=1/old"))).isEqualTo("old");
  }

  /** A custom location in an encryption zone has its staging directory there. */
  @ParameterizedTest
  @CsvSource({"append,off", "static,auto"})
  void aCustomLocationMayBeInAnEncryptionZone(String kind, String directoryRename)
      throws Exception {
    Configuration conf = hdfs.conf(directoryRename);
    Path table = table("zone-" + kind + directoryRename);
    Path zone = new Path(table.getParent(), "zone-of-" + table.getName());
    Path location = new Path(zone, "p=9");
    hdfs.makeEncryptionZone(zone);
    hdfs.write(new Path(location, "old"), "old");

    SparkWrite write =
        kind.equals("static")
            ? SparkWrite.overwrite(conf, table, table, location)
            : SparkWrite.append(conf, table);
    write.task(0, "p=1");
    write.taskAt(1, location);

    assertThat(end(write, conf, table)).as(told).isEqualTo(End.COMMITTED);
    Map<String, String> there = hdfs.visible(location);
    assertThat(there).hasSize(kind.equals("static") ? 1 : 2).containsValue("new in p=9");
    for (FileStatus file : hdfs.fs().listStatus(location)) {
      assertThat(file.isEncrypted()).isTrue();
    }
  }

  /** HDFS renames nothing into a zone: the table's own staging directory is outside. */
  @ParameterizedTest
  @CsvSource({
    "append,auto", "append,off",
    "partition,auto", "partition,off",
    "dynamic,auto", "dynamic,off"
  })
  void aPartitionThatIsAnEncryptionZoneIsNotWrittenUnencrypted(String kind, String directoryRename)
      throws Exception {
    Configuration conf = hdfs.conf(directoryRename);
    Path table = hdfs.newTable("zone-partition-" + kind + directoryRename);
    Path partition = new Path(table, "p=1");
    hdfs.makeEncryptionZone(partition);
    hdfs.write(new Path(partition, "old"), "old");

    SparkWrite write = SparkWrite.begin(conf, table, kind).task(0, "p=1");

    assertThat(end(write, conf, table)).as(told).isEqualTo(End.ROLLED_BACK);
    assertThat(told).contains("encryption zone");
    assertThat(hdfs.fs().getFileStatus(partition).isEncrypted()).isTrue();
  }

  /** From no room for the journal on to room for all. */
  @ParameterizedTest
  @CsvSource({"append,off", "static,auto", "dynamic,auto"})
  void aTableWhoseQuotaHoldsTheNewButNotBothStaysAsItWas(String kind, String directoryRename)
      throws Exception {
    int rolledBack = 0;
    for (int room = 0; ; room++) {
      Configuration conf = hdfs.conf(directoryRename);
      Path table = table("quota-" + kind + directoryRename + room, "");
      SparkWrite write = SparkWrite.begin(conf, table, kind).withoutRows();
      write.task(0, "p=1", "p=3/x=1", "p=4");
      ContentSummary used = hdfs.fs().getContentSummary(table);
      hdfs.fs()
          .setQuota(
              table,
              used.getFileCount() + used.getDirectoryCount() + room,
              HdfsConstants.QUOTA_DONT_SET);

      End end = end(write, conf, table);

      if (end == End.COMMITTED) {
        assertThat(rolledBack).as("rooms that were too small").isPositive();
        return;
      }
      assertThat(end).as("room for %d: %s", room, told).isEqualTo(End.ROLLED_BACK);
      assertThat(told).contains("quota").contains(table.toUri().getPath());
      rolledBack++;
    }
  }

  @ParameterizedTest
  @CsvSource({"append,auto", "append,off", "static,auto", "dynamic,off"})
  void aTableWhoseSpaceIsUsedUpStaysAsItWas(String kind, String directoryRename) throws Exception {
    Configuration conf = hdfs.conf(directoryRename);
    Path table = table("space-" + kind + directoryRename);
    SparkWrite write = SparkWrite.begin(conf, table, kind).task(0, "p=1", "p=3");
    long used = hdfs.fs().getContentSummary(table).getSpaceConsumed();
    hdfs.fs().setQuota(table, HdfsConstants.QUOTA_DONT_SET, used + 1);

    assertThat(end(write, conf, table)).as(told).isEqualTo(End.ROLLED_BACK);
    assertThat(told).contains("quota");
  }

  /** Of a partition: in the way where files are added to it, gone with it where it is replaced. */
  @ParameterizedTest
  @CsvSource({
    "append,auto,ROLLED_BACK", "append,off,ROLLED_BACK",
    "dynamic,auto,COMMITTED", "dynamic,off,ROLLED_BACK",
    "partition,auto,COMMITTED", "partition,off,ROLLED_BACK"
  })
  void aPartitionWhoseQuotaIsUsedUpStaysAsItWas(String kind, String directoryRename, End expected)
      throws Exception {
    Configuration conf = hdfs.conf(directoryRename);
    Path table = table("quota-partition-" + kind + directoryRename, "");
    hdfs.fs().setQuota(new Path(table, "p=1"), 2, HdfsConstants.QUOTA_DONT_SET);
    SparkWrite write = SparkWrite.begin(conf, table, kind).withoutRows().task(0, "p=1", "p=3");

    assertThat(end(write, conf, table)).as(told).isEqualTo(expected);
  }

  /** An attempt that Spark gave up on and that has a file open; on HDFS its stream survives. */
  @ParameterizedTest
  @CsvSource({
    "append,auto", "append,off",
    "static,auto", "static,off",
    "dynamic,auto", "dynamic,off"
  })
  void whatAnAttemptHasOpenWhenTheJobCommitsNeverBecomesVisible(String kind, String directoryRename)
      throws Exception {
    Configuration conf = hdfs.conf(directoryRename);
    Path table = table("open-" + kind + directoryRename);
    SparkWrite write = SparkWrite.begin(conf, table, kind).task(0, "p=1", "p=3/x=1");
    List<FSDataOutputStream> streams =
        List.of(
            write.openStray(0, 1, "p=1"),
            write.openStray(0, 2, "p=3/x=1"),
            write.openStray(0, 3, "p=5"));
    for (FSDataOutputStream stream : streams) {
      stream.writeBytes("a row of an attempt that failed");
      stream.hflush();
    }

    assertThat(end(write, conf, table)).as(told).isEqualTo(End.COMMITTED);

    Map<String, String> committed = hdfs.visible(table);
    for (FSDataOutputStream stream : streams) {
      assertThat(goesOn(stream)).isFalse();
    }
    assertThat(hdfs.visible(table)).isEqualTo(committed);
  }

  /** Before each request of the job commit another attempt begins a file and leaves it open. */
  @ParameterizedTest
  @CsvSource({"append,off", "static,auto", "dynamic,auto"})
  void whatAnAttemptBeginsWhileTheJobCommitsNeverBecomesVisible(String kind, String directoryRename)
      throws Exception {
    Configuration conf = hdfs.conf(directoryRename);
    Path table = table("begun-" + kind + directoryRename);
    List<FSDataOutputStream> streams = new ArrayList<>();
    try (RequestFaults requests = RequestFaults.bind(conf)) {
      SparkWrite write = SparkWrite.begin(conf, table, kind).task(0, "p=1", "p=3/x=1");
      requests.onRequest(
          (number, operation, path) -> {
            Path staged =
                new Path(write.staging(), "00/output/" + (number % 2 == 0 ? "p=1" : "p=3/x=1"));
            streams.add(begun(new Path(staged, "part-00000-" + write.id() + "-" + (100 + number))));
            return Fate.NORMAL;
          });

      assertThat(end(write, conf, table)).as(told).isEqualTo(End.COMMITTED);
    }

    assertThat(streams).hasSizeGreaterThan(15);
    Map<String, String> committed = hdfs.visible(table);
    for (FSDataOutputStream stream : streams) {
      goesOn(stream);
    }
    assertThat(hdfs.visible(table)).isEqualTo(committed);
  }

  private FSDataOutputStream begun(Path file) {
    try {
      FSDataOutputStream stream = hdfs.fs().create(file, false);
      stream.writeBytes("a row of an attempt that failed");
      stream.hflush();
      return stream;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether a stream takes more rows and can be closed. */
  private static boolean goesOn(FSDataOutputStream stream) {
    try {
      stream.writeBytes("one more");
      stream.hflush();
      stream.close();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * A fault at every third request of a commit, here and on the local disk: in turns lost for ever
   * from there on, before its effect, or after it, also by the error of a full disk. On stores in
   * memory every request goes wrong in every way.
   */
  @ParameterizedTest
  @CsvSource({"hdfs,append,off", "hdfs,dynamic,auto", "file,static,auto", "file,partition,off"})
  void aFaultLeavesTheOldTableOrTheNewOneOrNamesTheRepair(
      String store, String kind, String directoryRename, @TempDir File local) throws Exception {
    List<Fate> fates =
        List.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER, Fate.DISK_FAILS_BEFORE, Fate.DISK_FAILS_AFTER);
    Set<End> ends = EnumSet.noneOf(End.class);
    boolean isReached = true;
    for (int at = 1; isReached; at += 3) {
      Configuration conf = hdfs.conf(directoryRename);
      // So that requests come in the same order each time.
      conf.setInt(CommitterConfig.IO_THREADS, 1);
      conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "1h");
      conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "3h");
      Path table =
          store.equals("hdfs")
              ? hdfs.newTable("faults")
              : new Path(new File(local, "table-" + at).toURI());
      TableFiles.write(table.getFileSystem(conf), new Path(table, "p=1/old"), "old");
      TableFiles.write(table.getFileSystem(conf), new Path(table, "p=2/x=1/old"), "old");
      Configuration faulty = new Configuration(conf);
      try (RequestFaults faults = RequestFaults.bind(faulty)) {
        SparkWrite write = SparkWrite.begin(faulty, table, kind).task(0, "p=1", "p=3/x=1");
        Fate fate = fates.get(at % fates.size());
        faults.onRequest(at % 2 == 0 ? Fault.deadFrom(at, fate) : Fault.at(at, fate));
        ends.add(visibleEnd(write, conf, table));
        isReached = faults.injected() > 0;
      }
    }
    assertThat(ends).contains(End.COMMITTED, End.ROLLED_BACK);
  }

  /** Commits; asserts that the table is the new one, or the old one, with nothing else left. */
  private End end(SparkWrite write, Configuration conf, Path table) throws IOException {
    End end = visibleEnd(write, conf, table);
    assertThat(TableFiles.staging(hdfs.fs(), table)).as(told).isEmpty();
    return end;
  }

  /** As {@link #end}, but something hidden may be left. */
  private End visibleEnd(SparkWrite write, Configuration conf, Path table) throws IOException {
    Map<String, String> old = visible(table);
    Map<String, String> fresh = write.after(visibleFiles(table));
    try {
      write.commit();
      told = "no failure";
    } catch (Exception e) {
      told = Failures.trace(e);
      write.abort();
      return ending(conf, table, old, fresh);
    }
    assertThat(visibleFiles(table)).isEqualTo(fresh);
    return End.COMMITTED;
  }

  private End ending(
      Configuration conf, Path table, Map<String, String> old, Map<String, String> fresh)
      throws IOException {
    Recovery recovery = Recoveries.of(conf, /* force= */ true);
    List<StagingRoot> unfinished = recovery.find(table);
    if (unfinished.isEmpty()) {
      assertThat(visible(table)).as(told).isEqualTo(old);
      return End.ROLLED_BACK;
    }
    assertThat(told).contains("manifest-committer recover " + table);
    if (recovery.run(unfinished.get(0), Recovery.Direction.AS_MARKED) == Outcome.ROLLED_BACK) {
      assertThat(visible(table)).as(told).isEqualTo(old);
      return End.RECOVERED_BACK;
    }
    assertThat(visibleFiles(table)).as(told).isEqualTo(fresh);
    return End.RECOVERED_FORWARD;
  }

  private Map<String, String> visible(Path table) throws IOException {
    return TableFiles.visible(table.getFileSystem(hdfs.conf()), table);
  }

  private Map<String, String> visibleFiles(Path table) throws IOException {
    Map<String, String> files = visible(table);
    files.keySet().removeIf(name -> name.endsWith("/"));
    return files;
  }

  private Path table(String name) throws IOException {
    return table(name, "old");
  }

  private Path table(String name, String content) throws IOException {
    Path table = hdfs.newTable(name);
    hdfs.write(new Path(table, "p=1/old"), content);
    hdfs.write(new Path(table, "p=2/x=1/old"), content);
    return table;
  }
}
