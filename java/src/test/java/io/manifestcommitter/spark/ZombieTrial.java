// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.cli.Clean;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkCalls;
import io.manifestcommitter.testing.SparkWrite;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/**
 * One job, called as Spark calls it, and attempts of its tasks that Spark gave up on and that go on
 * writing while the job commits and after it. Whoever runs it says when the commit is where.
 */
public final class ZombieTrial {
  private static final String ROWS = "rows of an attempt that Spark gave up on\n";

  private static final Map<String, String> OLD = Map.of("p=1/old", "old", "p=2/old", "old");

  /** Where attempts write: partitions that the job writes to, that it does not, and new ones. */
  private static final List<String> PARTITIONS = List.of("p=1", "p=2", "p=3", "p=3/x=1", "p=5");

  private final Configuration conf;
  private final Path table;
  private final Kind kind;
  private final SparkWrite write;
  private final NavigableMap<String, String> expected;
  private final List<FSDataOutputStream> untilNext = new ArrayList<>();
  private final List<FSDataOutputStream> untilEnd = new ArrayList<>();
  private final Set<Moment> moments = EnumSet.noneOf(Moment.class);
  private final SparkCalls.Attempt twin;
  private int attempts;
  private int begun;
  private int refused;

  /** What a job does to a table that has the partitions 1 and 2; it writes to 1 and 3. */
  public enum Kind {
    APPEND,
    /** The whole table is replaced. */
    STATIC,
    /** The partitions that it writes to are replaced. */
    DYNAMIC
  }

  /**
   * Where a job commit is: right before it makes one of these renames, which come in this order.
   */
  public enum Moment {
    /** Of the staging directory, where the store renames directories. */
    SEAL("/00/output", "/_manifest_[^/]*/00/sealed"),
    /** What was staged is listed by then, and cleared of what nobody named. */
    JOURNAL("/00/journal.tmp", "/_manifest_[^/]*/00/journal-planned-0"),
    /** The first of a new partition. */
    PUBLISH("/00/(sealed|output)/p=3(/.*)?", "/p=3(/.*)?"),
    /** All is published by then, and looked at. */
    REPORT("/00/old/0/_SUCCESS", "/_SUCCESS");

    private final String source;
    private final String destination;

    Moment(String source, String destination) {
      this.source = source;
      this.destination = destination;
    }

    /** Whether a rename from there is the one. */
    public boolean isFrom(Path renamed) {
      return renamed.toUri().getPath().matches(".*/_manifest_[^/]*" + source);
    }

    /** A regular expression for the path that the rename leads to; a folder's ends in a slash. */
    public String destination(Path table) {
      return table.toUri().getPath() + destination + "/?$";
    }
  }

  /** A job that has run its tasks, and attempts that began before its commit. */
  public ZombieTrial(Configuration conf, Path table, Kind kind, String directoryRename)
      throws IOException {
    this.conf = new Configuration(conf);
    this.conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    this.conf.setInt(CommitterConfig.IO_THREADS, 1);
    this.table = table;
    this.kind = kind;
    for (String file : OLD.keySet()) {
      TableFiles.write(table.getFileSystem(conf), new Path(table, file), "old");
    }
    this.write = SparkWrite.begin(this.conf, table, kind.name().toLowerCase(Locale.ROOT));
    write.task(0, "p=1", "p=3");
    write.task(1, "p=3");
    expected = write.after(OLD);
    begin();
    twin = attempt(0);
    for (String partition : List.of("p=1", "p=3")) {
      opened(twin.newFile(partition, ".txt")).close();
    }
  }

  private SparkCalls.Attempt attempt(int task) throws IOException {
    return write.stray(task, ++attempts);
  }

  /** The job commit. */
  public void commit() {
    write.commit();
  }

  /** The table. */
  public Path table() {
    return table;
  }

  /** What the attempts do when the commit is there; once for each moment. */
  public synchronized void at(Moment moment) {
    if (moments.add(moment)) {
      goOn();
      try {
        begin();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** The moments that came. */
  public Set<Moment> moments() {
    return moments;
  }

  /** How many files the attempts began. */
  public int begun() {
    return begun;
  }

  /** How often the store refused more rows for, or the end of, a file that an attempt had begun. */
  public int refused() {
    return refused;
  }

  /**
   * What comes after the commit: attempts begin more files, end all, and abort. The table is at all
   * times exactly as the job wanted it, and what is hidden can be cleaned.
   */
  public void end() throws IOException {
    assertThat(visible()).as("%s right after the commit", kind).isEqualTo(withDirectories());
    goOn();
    begin();
    goOn();
    untilEnd.forEach(this::close);
    assertThat(visible()).as("%s with attempts that ended", kind).isEqualTo(withDirectories());
    twin.abort();
    assertThat(visible()).as("%s with an attempt aborted", kind).isEqualTo(withDirectories());

    assertThat(stagingRoots())
        .as("what attempts wrote last")
        .containsExactly("_manifest_" + write.id());
    assertThat(
            Clean.ofSession(
                Recoveries.watchingBriefly(conf), table.toString(), "0s", false, false, false))
        .contains(
            "\"jobId\":\"" + write.id() + "\"", "\"state\":\"abandoned\"", "\"removed\":true");
    assertThat(stagingRoots()).isEmpty();
    assertThat(visible()).as("%s cleaned", kind).isEqualTo(withDirectories());
  }

  /**
   * Attempts begin a file each, which ends at once, at the next moment, or at the end, in turns.
   */
  private void begin() throws IOException {
    for (String partition : PARTITIONS) {
      FSDataOutputStream stream = opened(attempt(begun % 2).newFile(partition, ".txt"));
      switch ((begun + 2 * (begun / PARTITIONS.size())) % 3) {
        case 0 -> stream.close();
        case 1 -> untilNext.add(stream);
        default -> untilEnd.add(stream);
      }
      begun++;
    }
  }

  private FSDataOutputStream opened(Path file) throws IOException {
    FSDataOutputStream stream = create(file);
    stream.writeBytes(ROWS);
    return stream;
  }

  /** With the end of some that are open, and more rows in the others: some reach the store. */
  private void goOn() {
    for (FSDataOutputStream stream : untilEnd) {
      try {
        stream.writeBytes(ROWS);
        if (untilEnd.indexOf(stream) % 2 == 0) {
          stream.hflush();
        }
      } catch (IOException e) {
        refused++;
      }
    }
    untilNext.forEach(this::close);
    untilNext.clear();
  }

  private void close(FSDataOutputStream stream) {
    try {
      stream.close();
    } catch (IOException e) {
      refused++;
    }
  }

  private FSDataOutputStream create(Path file) throws IOException {
    return file.getFileSystem(conf).create(file, false);
  }

  private NavigableMap<String, String> withDirectories() {
    NavigableMap<String, String> all = new TreeMap<>(expected);
    expected.keySet().forEach(file -> all.put(file.substring(0, file.indexOf('/') + 1), ""));
    return all;
  }

  /** The files with their content, and the directories, that a reader finds. */
  private NavigableMap<String, String> visible() throws IOException {
    return TableFiles.visible(table.getFileSystem(conf), table);
  }

  private List<String> stagingRoots() throws IOException {
    List<String> roots = new ArrayList<>();
    for (FileStatus status : table.getFileSystem(conf).listStatus(table)) {
      if (status.isDirectory() && status.getPath().getName().startsWith("_")) {
        roots.add(status.getPath().getName());
      }
    }
    return roots;
  }
}
