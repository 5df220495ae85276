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
import io.manifestcommitter.testing.RequestFaults.Request;
import io.manifestcommitter.testing.SparkWrite;
import io.manifestcommitter.testing.SparkWrite.End;
import io.manifestcommitter.testing.TableFiles;
import io.manifestcommitter.testing.TableWrite;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** One job commit of the Spark protocol in which requests go wrong, and what it has to end in. */
final class SparkFaultTrial implements Closeable {
  private static final String LAST_REPORT = "the last report";

  private final FileSystem raw;
  private final Path base;
  private final Path table;
  private final Path location;
  private final TableWrite kind;
  private final boolean isNew;
  private final Configuration conf;
  private final RequestFaults faults;
  private final NavigableMap<String, String> old = new TreeMap<>();
  private SparkWrite write;

  /**
   * A job that is about to commit.
   *
   * @param raw the filesystem itself, without faults
   * @param base a directory of this trial only
   * @param kind what the job does: "append" adds to a partition that is there, one that is not, and
   *     a custom location; "new" makes the table; "static", "partition" and "dynamic" replace it,
   *     one partition, or what they write to
   */
  SparkFaultTrial(FileSystem raw, Path base, String kind, String directoryRename)
      throws IOException {
    this.raw = raw;
    this.base = raw.makeQualified(base);
    this.table = new Path(this.base, "table");
    this.location = new Path(this.base, "elsewhere");
    this.isNew = kind.equals("new");
    this.kind =
        kind.equals("static")
            ? TableWrite.replacing("table", "elsewhere")
            : TableWrite.of(isNew ? "append" : kind, "table");
    this.conf = new Configuration(raw.getConf());
    conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "1h");
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "3h");
    // So that requests come in the same order each time.
    conf.setInt("mapreduce.manifest.committer.io.threads", 1);
    this.faults = RequestFaults.bind(conf);
    prepare(isNew ? "append" : kind);
  }

  private void prepare(String begun) throws IOException {
    raw.mkdirs(base);
    if (!isNew) {
      for (String file : List.of("table/p=1/old", "table/p=2/old", "elsewhere/old")) {
        TableFiles.write(raw, new Path(base, file), "old in " + file);
      }
      TableFiles.write(raw, new Path(table, "_SUCCESS"), LAST_REPORT);
      TableFiles.write(raw, new Path(table, "_SUCCESS.files"), LAST_REPORT);
    }
    old.putAll(visible());
    write =
        begun.equals("static")
            ? SparkWrite.overwrite(conf, table, table, location)
            : SparkWrite.begin(conf, table, begun);
    write.task(0, "p=1", "p=3/x=1");
    if (isNew) {
      write.task(1, "p=1", "p=2");
    } else {
      write.task(1, "p=1");
      write.taskAt(2, location);
    }
  }

  /** Commits without a fault; tells the requests. */
  List<Request> clean() throws IOException {
    faults.onRequest(Fault.NONE);
    write.commit();
    faults.noFault();
    assertCommitted("without a fault");
    return faults.requests();
  }

  /** One request of the commit goes wrong, once. */
  End once(int at, Fate fate) throws IOException {
    return run(Fault.at(at, fate), /* stays= */ false);
  }

  /** One request of the commit goes wrong, and all after it fail until the job is aborted. */
  End stays(int from, Fate fate) throws IOException {
    return run(Fault.deadFrom(from, fate), /* stays= */ true);
  }

  private End run(Fault fault, boolean stays) throws IOException {
    NavigableMap<String, String> fresh = fresh();
    Optional<Throwable> failure = Optional.empty();
    faults.onRequest(fault);
    try {
      write.commit();
    } catch (Exception | Error e) {
      failure = Optional.of(e);
      if (!stays) {
        faults.noFault();
      }
      write.abort();
    }
    faults.noFault();
    assertThat(faults.injected()).as("faults met").isPositive();

    String told = failure.map(Failures::trace).orElse("no failure");
    List<StagingRoot> unfinished = unfinished();
    if (unfinished.isEmpty()) {
      if (!failure.isPresent()) {
        assertThat(visible()).as(told).isEqualTo(fresh);
        assertCommitted(told);
        return End.COMMITTED;
      }
      assertRolledBack(told, stays);
      if (!stays) {
        assertThat(staging()).as(told).isEmpty();
      }
      return End.ROLLED_BACK;
    }
    assertThat(unfinished).hasSize(1);
    if (failure.isPresent()) {
      assertThat(told).contains("manifest-committer recover " + table);
    } else {
      assertThat(visible()).as(told).isEqualTo(fresh);
    }
    return recover(unfinished.get(0), failure.isPresent(), fresh, told);
  }

  private End recover(
      StagingRoot root, boolean failed, NavigableMap<String, String> fresh, String told)
      throws IOException {
    Outcome outcome = recovery().run(root, Recovery.Direction.AS_MARKED);
    assertThat(unfinished()).isEmpty();
    if (raw.exists(table)) {
      assertThat(raw.exists(root.root())).as("staging after recovery").isFalse();
    }
    if (outcome == Outcome.ROLLED_BACK) {
      assertThat(failed).as("a job that said it succeeded is rolled back").isTrue();
      assertRolledBack(told, /* stays= */ false);
      return End.RECOVERED_BACK;
    }
    assertThat(visible()).as(told).isEqualTo(fresh);
    assertCommitted(told);
    return failed ? End.RECOVERED_FORWARD : End.COMMITTED;
  }

  private void assertRolledBack(String told, boolean stays) throws IOException {
    NavigableMap<String, String> left = visible();
    if (isNew && stays) {
      // The directory of a table that the job made: while the staging directory was in it, it had
      // to stay.
      left.remove("table/");
    }
    assertThat(left).as(told).isEqualTo(old);
    if (!isNew) {
      assertThat(TableFiles.read(raw, new Path(table, "_SUCCESS"))).as(told).isEqualTo(LAST_REPORT);
      assertThat(TableFiles.read(raw, new Path(table, "_SUCCESS.files")))
          .as(told)
          .isEqualTo(LAST_REPORT);
    } else if (raw.exists(table)) {
      assertThat(raw.exists(new Path(table, "_SUCCESS"))).as(told).isFalse();
    }
  }

  private void assertCommitted(String told) throws IOException {
    assertThat(TableFiles.read(raw, new Path(table, "_SUCCESS"))).as(told).contains(write.id());
  }

  private List<StagingRoot> unfinished() throws IOException {
    return raw.exists(table) ? recovery().find(table) : List.of();
  }

  private Recovery recovery() {
    return Recoveries.of(conf, /* force= */ true);
  }

  /** What the table and the location hold once the job is committed. */
  private NavigableMap<String, String> fresh() throws IOException {
    NavigableMap<String, String> rows = new TreeMap<>();
    for (Map.Entry<Path, Path> file : write.staged().entrySet()) {
      rows.put(relative(file.getKey()), TableFiles.read(raw, file.getValue()));
    }
    NavigableMap<String, String> fresh = kind.with(rows).after(old);
    fresh.put("table/", "");
    for (String path : rows.keySet()) {
      for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
        fresh.put(path.substring(0, slash + 1), "");
      }
    }
    return fresh;
  }

  /** Every entry that is not hidden, below the trial's directory. */
  private NavigableMap<String, String> visible() throws IOException {
    return TableFiles.visible(raw, base);
  }

  /** The staging directories that are left. */
  private List<String> staging() throws IOException {
    List<String> left = new ArrayList<>();
    for (Path directory : List.of(table, location)) {
      if (raw.exists(directory)) {
        left.addAll(TableFiles.staging(raw, directory));
      }
    }
    return left;
  }

  private String relative(Path path) {
    return path.toUri().getPath().substring(base.toUri().getPath().length() + 1);
  }

  @Override
  public void close() throws IOException {
    faults.close();
    raw.delete(base, true);
  }
}
