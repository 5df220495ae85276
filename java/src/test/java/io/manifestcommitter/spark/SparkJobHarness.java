// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkGround;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * The driver's side of a Spark write against a store in memory, with tasks that write straight into
 * it.
 */
final class SparkJobHarness implements SparkGround {
  static final String JOB_ID = "0b5d8ab4-7f3c-4a53-a4a7-7b6d8e3f1c11";
  static final String STAGING = "/table/_manifest_" + JOB_ID;
  static final String OUTPUT = STAGING + "/00/output/";

  private static final List<DriverJob> STARTED = new ArrayList<>();

  final MemoryStoreState state;
  final Configuration conf;
  final Path table;
  private final String store;
  private final DriverJob driver;
  private final List<Object> messages = new ArrayList<>();

  /** A fresh store behind a scheme, which decides its traits. */
  SparkJobHarness(String scheme) {
    this(scheme, JOB_ID);
    state.clear();
    if (!STARTED.isEmpty()) {
      // Whose heartbeat would be written into this store else.
      STARTED.forEach(DriverJob::abort);
      STARTED.clear();
      state.clear();
    }
  }

  private SparkJobHarness(String scheme, String jobId) {
    store = scheme;
    conf = MemoryFileSystem.configuration(scheme);
    String authority = "spark-job-" + scheme;
    state = MemoryFileSystem.state(authority);
    table = new Path(MemoryFileSystem.scheme(scheme) + "://" + authority + TABLE);
    driver = new DriverJob(this, jobId).waiting(waiting -> state.passTime(2000));
  }

  /** Another job with the same settings into the same table, whatever is there. */
  SparkJobHarness other(String otherId) {
    SparkJobHarness other = new SparkJobHarness(store, otherId);
    conf.forEach(setting -> other.conf.set(setting.getKey(), setting.getValue()));
    return other;
  }

  /** What jobs do while they wait; without this, time passes in the store's clock. */
  SparkJobHarness waiting(Pause newPause) {
    driver.waiting(newPause);
    return this;
  }

  /** From here on the filesystem is one that all in this process share. */
  SparkJobHarness sharing() {
    String scheme = table.toUri().getScheme();
    conf.unset("fs." + scheme + ".impl.disable.cache");
    return this;
  }

  /** The clock of the driver's machine. */
  SparkJobHarness clock(LongSupplier newNanos) {
    driver.clock(newNanos);
    return this;
  }

  /** From here on no whole directory is renamed. */
  SparkJobHarness byFile() {
    return with(CommitterConfig.DIRECTORY_RENAME, "off");
  }

  /** With another setting. */
  SparkJobHarness with(String key, String value) {
    conf.set(key, value);
    return this;
  }

  /** Old data at these paths. */
  SparkJobHarness old(String... paths) {
    List.of(paths).forEach(path -> state.write(path, "old"));
    return this;
  }

  /** From here on requests come in one order. */
  SparkJobHarness oneThread() {
    conf.setInt(CommitterConfig.IO_THREADS, 1);
    return this;
  }

  @Override
  public Configuration configuration() {
    return conf;
  }

  @Override
  public Path path(String path) {
    return new Path(table.toUri().getScheme(), table.toUri().getAuthority(), path);
  }

  @Override
  public void put(String path, String content) {
    state.write(path, content);
  }

  @Override
  public NavigableMap<String, String> files() {
    return state.files();
  }

  @Override
  public void onRequest(Fault fault) {
    state.onRequest(fault);
  }

  @Override
  public void noFault() {
    state.noFault();
  }

  /** Sets it up; what it writes is what its tasks are told to commit. */
  SparkJobHarness setUp(TableWrite write) throws IOException {
    driver.setUp(write.with(Map.of()));
    STARTED.add(driver);
    return this;
  }

  SparkJob job() {
    return driver.job();
  }

  /** A task that commits files ("p=1/a"), each with its own name as content. */
  SparkJobHarness commitTask(int task, String... files) throws IOException {
    return commitTaskAt(task, TABLE, files);
  }

  /** A task that commits files to the table, or a custom location. */
  SparkJobHarness commitTaskAt(int task, String location, String... names) throws IOException {
    Map<String, String> contents = new LinkedHashMap<>();
    for (String name : names) {
      contents.put(name, "new " + name);
    }
    messages.add(driver.task(task, location, contents));
    return this;
  }

  void message(Object message) {
    messages.add(message);
  }

  void commit() throws IOException {
    driver.commit(messages);
  }

  /** Commits, and aborts if that fails, as Spark does; what it failed with. */
  Optional<Throwable> commitOrAbort() {
    try {
      commit();
      return Optional.empty();
    } catch (IOException | RuntimeException | Error e) {
      driver.abort();
      return Optional.of(e);
    }
  }

  /** Commits, and aborts nothing if that fails: the driver is dead. Says whether it failed. */
  boolean dies(Fault fault) {
    state.onRequest(fault);
    try {
      commit();
      return false;
    } catch (IOException e) {
      return true;
    } finally {
      state.noFault();
    }
  }

  /** Recovers all that is unfinished in the table; how each ended. */
  List<Outcome> recover(Recovery.Direction direction, boolean force) throws IOException {
    return Recoveries.all(recovery(force), table, direction);
  }

  /** Recovers this job alone; how it ended. */
  Outcome recoverAsMarked(boolean force) throws IOException {
    return recovery(force).run(root(), Recovery.Direction.AS_MARKED);
  }

  /** Where the first job stages. */
  StagingRoot root() {
    return new StagingRoot(table, JOB_ID);
  }

  /** With the settings of the job. */
  Recovery recovery(boolean force) {
    return Recoveries.of(conf, force);
  }

  /** What a reader of the store sees. */
  NavigableMap<String, String> visible() {
    return state.visible();
  }

  /** A report, of this job or of another. */
  SuccessReport report(String path) throws IOException {
    return SuccessReport.parse(state.bytes(path), path);
  }

  /** What is left of staging directories, directories too. */
  List<String> staging() {
    List<String> left = new ArrayList<>(state.paths());
    left.removeIf(path -> !path.contains("/_manifest_"));
    state.uploads().forEach(path -> left.add("an upload of " + path));
    return left;
  }
}
