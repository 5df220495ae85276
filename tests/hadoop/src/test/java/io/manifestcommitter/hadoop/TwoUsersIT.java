// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.LeftoverException;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkWrite;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two users, none of them privileged, write to one table, in which not each may delete all. */
class TwoUsersIT extends OnHdfs {
  private static final UserGroupInformation ALICE = user("alice");
  private static final UserGroupInformation BOB = user("bob");

  /**
   * The staging directory of a committed job, which could not be removed, is another user's: for
   * later writers it is as if it were not there.
   */
  @ParameterizedTest
  @CsvSource({
    "777,append,rollback", "777,dynamic,fail", "777,static,warn",
    "1777,append,fail", "1777,append,warn", "1777,dynamic,rollback"
  })
  void whatACommittedJobOfAnotherUserLeftStopsNobody(String permission, String kind, String mode)
      throws Exception {
    Path table = newTable("left-" + kind, permission);
    Configuration conf = hdfs.conf();
    // In a sticky directory nobody replaces the _SUCCESS of another user.
    conf.setBoolean(CommitterConfig.MARK_SUCCESSFUL_JOBS, permission.equals("777"));
    conf.set(CommitterConfig.UNFINISHED_JOBS, mode);
    SparkWrite first = leftBehind(conf, table);

    SparkWrite second = Hdfs.as(BOB, () -> write(conf, "append", table, "p=2"));
    SparkWrite third = Hdfs.as(BOB, () -> write(conf, kind, table, "p=2"));

    Set<String> expected = new TreeSet<>(names(table, third));
    if (!kind.equals("static")) {
      expected.addAll(names(table, first));
    }
    if (kind.equals("append")) {
      expected.addAll(names(table, second));
    }
    assertThat(hdfs.visibleFiles(table).keySet()).isEqualTo(expected);
    assertThat(TableFiles.staging(hdfs.fs(), table)).containsExactly(first.staging().getName());

    Hdfs.as(BOB, () -> recoveryFailsToRemove(table, first.staging()));
    assertThat(TableFiles.staging(hdfs.fs(), table)).containsExactly(first.staging().getName());
    Hdfs.as(ALICE, () -> recover(table));
    assertThat(TableFiles.staging(hdfs.fs(), table)).isEmpty();
    assertThat(hdfs.visibleFiles(table).keySet()).isEqualTo(expected);
  }

  private Void recoveryFailsToRemove(Path table, Path staging) {
    assertThatThrownBy(() -> recover(table))
        .isInstanceOf(LeftoverException.class)
        .hasMessageContainingAll(staging.toString(), "Permission denied");
    return null;
  }

  private Outcome recover(Path table) throws IOException {
    Configuration conf = hdfs.conf();
    Recovery recovery = Recoveries.of(conf, /* force= */ false);
    List<StagingRoot> found = recovery.find(table);
    assertThat(found).hasSize(1);
    return recovery.run(found.get(0), Recovery.Direction.AS_MARKED);
  }

  /** Of alice's job, which is committed, and could not clean up. */
  private SparkWrite leftBehind(Configuration conf, Path table) throws Exception {
    Configuration kept = new Configuration(conf);
    kept.setBoolean(CommitterConfig.CLEANUP_SKIPPED, true);
    SparkWrite write = Hdfs.as(ALICE, () -> write(kept, "append", table, "p=1"));
    Path staging = write.staging();
    // Without it nobody watches: the next job tries to remove the rest at once.
    assertThat(hdfs.fs().delete(new Path(staging, "heartbeat"), false)).isTrue();
    FileStatus[] journals = hdfs.fs().globStatus(new Path(staging, "00/journal-kept-*"));
    assertThat(journals).hasSize(1);
    String finished = journals[0].getPath().getName().replace("-kept-", "-finished-");
    hdfs.fs().rename(journals[0].getPath(), new Path(staging, "00/" + finished));
    assertThat(hdfs.fs().getFileStatus(staging).getPermission())
        .isEqualTo(new FsPermission((short) 0755));
    // Which others may empty.
    hdfs.fs().setPermission(new Path(table, "p=1"), new FsPermission((short) 0777));
    return write;
  }

  /** Asked before the point of no return, and before anything is moved. */
  @ParameterizedTest
  @CsvSource({
    "755,static,auto,may not delete",
    "755,static,off,may not delete",
    "755,dynamic,auto,may not delete",
    "755,dynamic,off,may not delete",
    "755,partition,off,may not delete",
    "1777,static,auto,old belongs to alice",
    "1777,dynamic,off,old belongs to alice"
  })
  void whatMayNotBeDeletedIsNotOverwritten(
      String permission, String kind, String directoryRename, String reason) throws Exception {
    Path table = newTable("denied-" + kind, "777");
    Path partition = oldPartition(table, permission);
    Configuration conf = hdfs.conf();
    conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    Map<String, String> before = identities(table);

    Hdfs.as(
        BOB,
        () -> {
          SparkWrite write = SparkWrite.begin(conf, table, kind).task(0, "p=1", "p=3");
          assertThatThrownBy(write::commit)
              .hasMessageContaining("nothing was changed")
              .hasMessageContainingAll(partition + " belongs to alice:", "bob may", reason);
          assertThat(identities(table)).isEqualTo(before);
          write.abort();
          return null;
        });

    assertThat(identities(table)).isEqualTo(before);
    assertThat(hdfs.fs().listStatus(table)).hasSize(1);
    Hdfs.as(BOB, () -> write(conf, "append", table, "p=3"));
    assertThat(hdfs.visibleFiles(table)).hasSize(2);
  }

  /** The permission of the directory alone does not tell it; HDFS does. */
  @ParameterizedTest
  @CsvSource({"static,auto", "dynamic,auto", "dynamic,off"})
  void whatAnAccessControlListLetsOneDeleteIsOverwritten(String kind, String directoryRename)
      throws Exception {
    Path table = newTable("acl-" + kind, "777");
    hdfs.fs()
        .modifyAclEntries(
            oldPartition(table, "755"), AclEntry.parseAclSpec("user:bob:rwx,mask::rwx", true));
    Configuration conf = hdfs.conf();
    conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);

    SparkWrite write = Hdfs.as(BOB, () -> write(conf, kind, table, "p=1"));

    assertThat(hdfs.visibleFiles(table)).containsOnlyKeys(names(table, write));
  }

  /** In a sticky table nobody may remove another user's partition, though he may empty it. */
  @ParameterizedTest
  @CsvSource({
    "static,auto,false", "static,off,false",
    "dynamic,auto,true", "dynamic,off,true",
    "partition,auto,true", "partition,off,true"
  })
  void aPartitionOfAnotherUserInAStickyTableIsEmptiedAndNotRemoved(
      String kind, String directoryRename, boolean isServed) throws Exception {
    Path table = newTable("sticky-" + kind, "1777");
    oldPartition(table, "777");
    Configuration conf = hdfs.conf();
    conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    Map<String, String> before = identities(table);

    SparkWrite write =
        Hdfs.as(
            BOB,
            () -> {
              SparkWrite begun = SparkWrite.begin(conf, table, kind).task(0, "p=1");
              if (isServed) {
                begun.commit();
              } else {
                assertThatThrownBy(begun::commit)
                    .hasMessageContainingAll("nothing was changed", "p=1 belongs to alice");
                begun.abort();
              }
              return begun;
            });

    if (isServed) {
      assertThat(hdfs.visibleFiles(table)).containsOnlyKeys(names(table, write));
      assertThat(identities(table).get("p=1/")).isEqualTo(before.get("p=1/"));
    } else {
      assertThat(identities(table)).isEqualTo(before);
    }
    assertThat(TableFiles.staging(hdfs.fs(), table)).isEmpty();
  }

  /**
   * In a sticky table nobody moves the report of another user aside. Spark's own protocol creates
   * that file again: HDFS serves that if the file may be written, whatever the sticky bit says.
   */
  @ParameterizedTest
  @CsvSource({"644,false", "666,true"})
  void aReportOfAnotherUserInAStickyTableIsRefusedInSetup(String permission, boolean isWritable)
      throws Exception {
    Path table = newTable("report-" + permission, "1777");
    Configuration conf = hdfs.conf();
    Hdfs.as(ALICE, () -> write(conf, "append", table, "p=1"));
    Path report = new Path(table, "_SUCCESS");
    hdfs.fs().setPermission(report, new FsPermission(permission));
    hdfs.fs().setPermission(new Path(table, "p=1"), new FsPermission("777"));
    Map<String, String> before = identities(table);

    for (String kind : List.of("append", "static", "dynamic")) {
      Hdfs.as(BOB, () -> requireRefusedInSetup(conf, kind, table));
    }
    assertThat(identities(table)).isEqualTo(before);
    assertThat(TableFiles.staging(hdfs.fs(), table)).isEmpty();

    assertThat(Hdfs.as(BOB, () -> commitsByHadoopsOwn(conf, table))).isEqualTo(isWritable);

    Configuration without = new Configuration(conf);
    without.setBoolean(CommitterConfig.MARK_SUCCESSFUL_JOBS, false);
    Hdfs.as(BOB, () -> write(without, "append", table, "p=1"));
    for (String name : List.of("_SUCCESS", "_SUCCESS.files")) {
      Hdfs.as(ALICE, () -> table.getFileSystem(conf).delete(new Path(table, name), false));
    }
    Hdfs.as(BOB, () -> write(conf, "append", table, "p=1"));
    assertThat(hdfs.visibleFiles(table)).hasSize(3);
  }

  private static Void requireRefusedInSetup(Configuration conf, String kind, Path table) {
    assertThatThrownBy(() -> SparkWrite.begin(conf, table, kind))
        .hasMessageContaining("Nothing was touched")
        .hasMessageContaining(table + " belongs to alice:staff with rwxrwxrwt, and bob may only")
        .hasMessageContaining("_SUCCESS belongs to alice")
        .hasMessageContaining(CommitterConfig.MARK_SUCCESSFUL_JOBS + "=false");
    return null;
  }

  /** Whether Hadoop's committer, which Spark's own protocol uses, commits a job without tasks. */
  private static boolean commitsByHadoopsOwn(Configuration conf, Path table) throws IOException {
    TaskAttemptContext context = new TaskAttemptContextImpl(conf, new TaskAttemptID());
    FileOutputCommitter committer = new FileOutputCommitter(table, context);
    committer.setupJob(context);
    try {
      committer.commitJob(context);
      return true;
    } catch (AccessControlException e) {
      return false;
    }
  }

  /** A directory of alice's, to which all may add. */
  private Path newTable(String name, String permission) throws IOException {
    Path table = hdfs.newTable(name);
    hdfs.fs().mkdirs(table);
    hdfs.fs().setOwner(table, "alice", "staff");
    hdfs.fs().setPermission(table, new FsPermission(permission));
    return table;
  }

  private Path oldPartition(Path table, String permission) throws Exception {
    Path partition = new Path(table, "p=1");
    hdfs.write(new Path(partition, "old"), "old");
    hdfs.fs().setOwner(partition, "alice", "staff");
    hdfs.fs().setOwner(new Path(partition, "old"), "alice", "staff");
    hdfs.fs().setPermission(partition, new FsPermission(permission));
    return partition;
  }

  private static SparkWrite write(Configuration conf, String kind, Path table, String partition)
      throws IOException {
    SparkWrite write = SparkWrite.begin(conf, table, kind).task(0, partition);
    write.commit();
    return write;
  }

  /** What a reader sees, each with what only itself has. */
  private Map<String, String> identities(Path table) throws IOException {
    Map<String, String> identities = new TreeMap<>();
    for (String name : hdfs.visible(table).keySet()) {
      String path = new Path(table, name).toUri().getPath();
      identities.put(
          name,
          hdfs.fs().getClient().getFileInfo(path).getFileId()
              + " "
              + hdfs.fs().getFileStatus(new Path(path)).getPermission());
    }
    return identities;
  }

  /** Where the files of a write are in its table. */
  private static List<String> names(Path table, SparkWrite write) {
    int start = table.toUri().getPath().length() + 1;
    return write.staged().keySet().stream()
        .map(path -> path.toUri().getPath().substring(start))
        .toList();
  }

  private static UserGroupInformation user(String name) {
    return UserGroupInformation.createUserForTesting(name, new String[] {name + "s-group"});
  }
}
