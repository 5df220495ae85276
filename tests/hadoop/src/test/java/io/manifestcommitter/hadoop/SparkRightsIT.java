// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.SparkWrite;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Who may do what with a table that the Spark protocol wrote to: the same as if its files had been
 * written in place, by mkdirs and create, whatever the table's directory gives to what is made in
 * it, and whether whole directories are renamed or files.
 */
class SparkRightsIT extends OnHdfs {
  private static final String ACL =
      "user::rwx,user:auditor:r-x,group::r-x,mask::rwx,other::r-x,"
          + "default:user::rwx,default:user:auditor:r-x,default:group::r-x,default:group:writers:rwx,"
          + "default:mask::rwx,default:other::---";
  private static final List<String> OLD = List.of("p=1", "p=2/x=1");
  private static final String[] NEW = {"p=1", "p=2/x=9", "p=3/x=1/y=1", "p=3/x=1/y=2", "p=3/x=2"};

  /** What is special about a table's directory, or about the client. */
  enum Ground {
    PLAIN("workers", 0755),
    DEFAULT_ACL("workers", 0755),
    FOREIGN_GROUP("strangers", 0775),
    UMASK_077("workers", 0755),
    SET_GROUP_ID("workers", 02770),
    STICKY("strangers", 01777),
    SNAPSHOTS("workers", 0750);

    private final String group;
    private final int permission;

    Ground(String group, int permission) {
      this.group = group;
      this.permission = permission;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PLAIN,auto", "PLAIN,off",
    "DEFAULT_ACL,auto", "DEFAULT_ACL,off",
    "FOREIGN_GROUP,auto", "FOREIGN_GROUP,off",
    "UMASK_077,auto", "UMASK_077,off",
    "SET_GROUP_ID,auto", "SET_GROUP_ID,off",
    "STICKY,auto", "STICKY,off",
    "SNAPSHOTS,auto", "SNAPSHOTS,off"
  })
  void whatIsPublishedHasTheRightsOfWhatIsWrittenInPlace(Ground ground, String directoryRename)
      throws Exception {
    Configuration conf = hdfs.conf(directoryRename);
    if (ground == Ground.UMASK_077) {
      conf.set("fs.permissions.umask-mode", "077");
    }
    Worker worker = new Worker(conf);
    for (String kind : kinds(directoryRename)) {
      Path table = table(ground, worker, kind + "-" + ground + "-" + directoryRename);
      Path twin = table(ground, worker, kind + "-" + ground + "-twin");

      SparkWrite write = worker.call(() -> write(conf, kind, table, NEW));
      long staged = hdfs.fileId(new Path(write.staging(), "00/output/p=3"));
      worker.call(
          () -> {
            write.commit();
            writeInPlace(conf, twin, table, write);
            return null;
          });

      assertThat(rights(table))
          .as("%s of a table on %s, directory.rename %s", kind, ground, directoryRename)
          .isEqualTo(rights(twin));
      assertThat(hdfs.fileId(new Path(table, "p=3")) == staged)
          .as("p=3 was renamed")
          .isEqualTo(directoryRename.equals("auto"));
      assertThat(TableFiles.staging(hdfs.fs(), table)).isEmpty();
      if (ground == Ground.SNAPSHOTS) {
        assertThat(rights(new Path(table, ".snapshot/before"))).containsKey("p=1/old");
      }
    }
  }

  /** The two that go furthest by directory, and one by file. */
  private static List<String> kinds(String directoryRename) {
    return directoryRename.equals("auto") ? List.of("static", "dynamic") : List.of("append");
  }

  /** A job that is about to commit: two tasks, which share a partition. */
  private static SparkWrite write(Configuration conf, String kind, Path table, String... partitions)
      throws IOException {
    SparkWrite write = SparkWrite.begin(conf, table, kind).withoutRows().task(0, partitions);
    write.task(1, partitions[0]);
    return write;
  }

  /** Does the same to another table as who knows of no committer. */
  private static void writeInPlace(Configuration conf, Path twin, Path table, SparkWrite write)
      throws IOException {
    FileSystem fs = twin.getFileSystem(conf);
    for (String directory : OLD) {
      if (write.replaces(directory + "/old")) {
        fs.delete(new Path(twin, directory.replaceFirst("/.*", "")), true);
      }
    }
    for (Path file : write.staged().keySet()) {
      String partition = relative(table, file.getParent());
      Path inPlace = new Path(new Path(twin, partition), file.getName());
      fs.mkdirs(inPlace.getParent());
      TableFiles.write(fs, inPlace, write.content(partition));
    }
  }

  /**
   * What is below a directory that has rights of its own inherits from that, so it is made there.
   */
  @ParameterizedTest
  @CsvSource({
    "group,auto", "group,off",
    "permission,auto", "permission,off",
    "acl,auto", "acl,off"
  })
  void directoriesBelowOneWithOtherRightsGetThoseRights(String what, String directoryRename)
      throws Exception {
    Configuration conf = hdfs.conf(directoryRename);
    Worker worker = new Worker(conf);
    for (String kind : List.of("append", "dynamic")) {
      Path table = table(Ground.PLAIN, worker, what + "-" + directoryRename + kind);
      Path twin = table(Ground.PLAIN, worker, what + "-twin" + kind);
      Path plain = table(Ground.PLAIN, worker, what + "-plain" + kind);
      for (Path each : List.of(table, twin)) {
        Path parent = new Path(each, "p=2");
        switch (what) {
          case "group" -> hdfs.fs().setOwner(parent, "worker", "strangers");
          case "permission" -> hdfs.fs().setPermission(parent, new FsPermission((short) 01770));
          default -> hdfs.fs().setAcl(parent, AclEntry.parseAclSpec(ACL, true));
        }
      }

      SparkWrite write = worker.call(() -> write(conf, kind, table, "p=2/x=7/y=1", "p=2/x=8"));
      long staged = hdfs.fileId(new Path(write.staging(), "00/output/p=2/x=7"));
      worker.call(
          () -> {
            write.commit();
            assertThat(write.replaces("p=2/x=1/old")).isFalse();
            writeInPlace(conf, twin, table, write);
            writeInPlace(conf, plain, table, write);
            return null;
          });

      assertThat(hdfs.fileId(new Path(table, "p=2/x=7"))).as("made in place").isNotEqualTo(staged);
      NavigableMap<String, String> published = rights(table);
      NavigableMap<String, String> inPlace = rights(twin);
      // A renamed file keeps the rights that it was created with, in the table's own staging
      // directory.
      NavigableMap<String, String> inPlainTable = rights(plain);
      published.forEach(
          (path, rights) ->
              assertThat(rights)
                  .as("%s, %s, %s", path, kind, directoryRename)
                  .isEqualTo(
                      (path.endsWith("/") || path.endsWith("old") ? inPlace : inPlainTable)
                          .get(path)));
      assertThat(published.keySet()).isEqualTo(inPlace.keySet());
    }
  }

  /** As new, where the directory is replaced; its own, where only its files are. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "off"})
  void whatWasSetOnAReplacedPartitionGoesWithItsDirectory(String directoryRename) throws Exception {
    Configuration conf = hdfs.conf(directoryRename);
    Worker worker = new Worker(conf);
    Path table = table(Ground.PLAIN, worker, "replaced-" + directoryRename);
    hdfs.fs().setPermission(new Path(table, "p=1"), new FsPermission((short) 0711));

    worker.call(
        () -> {
          write(conf, "dynamic", table, "p=1").commit();
          return null;
        });

    assertThat(rights(table).get("p=1/"))
        .startsWith(directoryRename.equals("auto") ? "rwxr-xr-x worker" : "rwx--x--x worker");
  }

  /** A table with old data in two partitions, of two levels. */
  private Path table(Ground ground, Worker worker, String name) throws Exception {
    Path table = hdfs.newTable(name);
    hdfs.fs().mkdirs(table);
    hdfs.fs().setOwner(table, "worker", ground.group);
    hdfs.fs().setPermission(table, new FsPermission((short) ground.permission));
    if (ground == Ground.DEFAULT_ACL) {
      hdfs.fs().setAcl(table, AclEntry.parseAclSpec(ACL, true));
    }
    worker.call(
        () -> {
          FileSystem fs = table.getFileSystem(worker.conf);
          for (String directory : OLD) {
            fs.mkdirs(new Path(table, directory));
            TableFiles.write(fs, new Path(table, directory + "/old"), "");
          }
          return null;
        });
    if (ground == Ground.SNAPSHOTS) {
      hdfs.fs().allowSnapshot(table);
      hdfs.fs().createSnapshot(table, "before");
    }
    return table;
  }

  /** All that is not hidden below a directory, with its rights and its content. */
  private NavigableMap<String, String> rights(Path root) throws IOException {
    NavigableMap<String, String> entries = new TreeMap<>();
    collect(root, root, entries);
    return entries;
  }

  private void collect(Path root, Path directory, Map<String, String> entries) throws IOException {
    for (FileStatus child : hdfs.fs().listStatus(directory)) {
      Path path = child.getPath();
      if (path.getName().startsWith("_") || path.getName().startsWith(".")) {
        continue;
      }
      String rights =
          child.getPermission()
              + " "
              + child.getOwner()
              + ":"
              + child.getGroup()
              + " "
              + hdfs.fs().getAclStatus(path).getEntries()
              + (child.isEncrypted() ? " encrypted" : "");
      String relative = relative(root, path);
      if (child.isDirectory()) {
        entries.put(relative + "/", rights);
        collect(root, path, entries);
      } else {
        entries.put(relative, rights + " " + hdfs.read(path));
      }
    }
  }

  private static String relative(Path root, Path path) {
    return path.toUri().getPath().substring(root.toUri().getPath().length() + 1);
  }

  /** A user without privileges, with clients of its own. */
  private static final class Worker {
    private final UserGroupInformation user =
        UserGroupInformation.createUserForTesting("worker", new String[] {"workers", "strangers"});
    private final Configuration conf;

    Worker(Configuration conf) {
      this.conf = conf;
    }

    <T> T call(PrivilegedExceptionAction<T> action) throws Exception {
      return user.doAs(action);
    }
  }
}
