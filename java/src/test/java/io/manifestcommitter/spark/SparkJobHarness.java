package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Pause;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.RecoveryOutcome;
import io.manifestcommitter.layout.HiddenNames;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.progress.Waiting;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.Recoveries;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * The driver's side of a Spark write against a store in memory, with tasks that write straight into
 * it.
 */
final class SparkJobHarness {
  static final String JOB_ID = "0b5d8ab4-7f3c-4a53-a4a7-7b6d8e3f1c11";
  static final String STAGING = "/table/_manifest_" + JOB_ID;
  static final String OUTPUT = STAGING + "/00/output/";

  private static final List<SparkJob> STARTED = new ArrayList<>();

  final MemoryStoreState state;
  private final String jobId;
  final Configuration conf;
  final Path table;
  private final List<Object> messages = new ArrayList<>();
  private Pause pause = this::twoSecondsPass;
  private LongSupplier nanos = System::nanoTime;
  private SparkJob job;

  /** A fresh store behind a scheme, which decides its traits, or one that renames by copying. */
  SparkJobHarness(String scheme) {
    this(scheme, JOB_ID);
    state.clear();
    if (!STARTED.isEmpty()) {
      // Whose heartbeat would be written into this store else.
      STARTED.forEach(SparkJob::abort);
      STARTED.clear();
      state.clear();
    }
  }

  private SparkJobHarness(String scheme, String jobId) {
    this.jobId = jobId;
    conf = MemoryFileSystem.configuration(scheme);
    String authority = "spark-job-" + scheme;
    state = MemoryFileSystem.state(authority);
    table = new Path(MemoryFileSystem.scheme(scheme) + "://" + authority + "/table");
  }

  /** Another job with the same settings into the same table, whatever is there. */
  SparkJobHarness other(String otherId) {
    SparkJobHarness other = new SparkJobHarness(table.toUri().getScheme(), otherId);
    conf.forEach(setting -> other.conf.set(setting.getKey(), setting.getValue()));
    return other;
  }

  /** What jobs do while they wait; without this, time passes in the store's clock. */
  SparkJobHarness waiting(Pause newPause) {
    pause = newPause;
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
    nanos = newNanos;
    return this;
  }

  private void twoSecondsPass(Waiting waiting) {
    state.passTime(2000);
  }

  /** From here on no whole directory is renamed. */
  void byFile() {
    conf.set(CommitterConfig.DIRECTORY_RENAME, "off");
  }

  Path path(String path) {
    return new Path(table.toUri().getScheme(), table.toUri().getAuthority(), path);
  }

  Overwrite noOverwrite() {
    return Overwrite.recorded(List.of());
  }

  Overwrite overwriteOf(String... paths) {
    List<Path> recorded = new ArrayList<>();
    Arrays.stream(paths).map(this::path).forEach(recorded::add);
    return Overwrite.recorded(recorded);
  }

  Overwrite dynamicOverwrite() {
    return Overwrite.dynamic(List.of());
  }

  SparkJob setUp(Overwrite overwrite) throws IOException {
    RequestGate gate = RequestGate.open();
    Stores stores = new Stores(conf, gate);
    job =
        new SparkJob(
            jobId, table, overwrite, stores.all(), gate, new CommitterConfig(conf), pause, nanos);
    job.setUp();
    STARTED.add(job);
    return job;
  }

  SparkJob job() {
    return job;
  }

  /** A task that commits files ("p=1/a"), each with its own name as content. */
  void commitTask(int task, String... files) throws IOException {
    if (isUploaded()) {
      upload(task, TaskMessage.TABLE, table, files);
      return;
    }
    for (String file : files) {
      String staged = new StagingRoot(job.stagedIn(), jobId).output().toUri().getPath();
      state.write(staged + "/" + file, "new " + file);
    }
    messages.add(new TaskMessage(jobId, task, task).add(TaskMessage.TABLE, files).bytes());
  }

  /** A task that commits files to a custom location. */
  void commitTaskAt(int task, String location, String... names) throws IOException {
    new LocationMarks(new Stores(conf).all(), new StagingRoot(table, jobId)).write(path(location));
    if (isUploaded()) {
      upload(task, path(location).toString(), path(location), names);
      return;
    }
    for (String name : names) {
      state.write(location + "/_manifest_" + jobId + "/00/output/" + name, "new " + name);
    }
    String at = path(location).toString();
    messages.add(new TaskMessage(jobId, task, task).add(at, names).bytes());
  }

  private boolean isUploaded() {
    return new Stores(conf).all().traits(table).completesUploads();
  }

  private void upload(int task, String location, Path target, String... files) throws IOException {
    UploadedTask uploads = new UploadedTask(new Stores(conf).all(), jobId, task);
    for (String file : files) {
      uploads.add(location, target, file, "new " + file);
    }
    messages.add(uploads.bytes());
  }

  void message(Object message) {
    messages.add(message);
  }

  void commit() throws IOException {
    job.commit(messages);
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
  List<RecoveryOutcome> recover(Recovery.Direction direction, boolean force) throws IOException {
    return Recoveries.all(recovery(force), table, direction);
  }

  /** With the settings of the job. */
  Recovery recovery(boolean force) {
    return Recoveries.of(conf, force);
  }

  /**
   * What a reader of the store sees: every file outside hidden directories, but for the reports.
   */
  NavigableMap<String, String> visible() {
    NavigableMap<String, String> visible = new TreeMap<>(state.files());
    visible
        .keySet()
        .removeIf(path -> Arrays.stream(path.split("/")).anyMatch(HiddenNames::isHidden));
    return visible;
  }

  /** What is left of staging trees, directories too. */
  List<String> staging() {
    List<String> left = new ArrayList<>(state.paths());
    left.removeIf(path -> !path.contains("/_manifest_"));
    state.uploads().forEach(path -> left.add("an upload of " + path));
    return left;
  }
}
