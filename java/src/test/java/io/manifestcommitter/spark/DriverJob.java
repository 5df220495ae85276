// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.LifeSigns.Pause;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.spark.TaskMessage.UploadedTask;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Recoveries.PassingTime;
import io.manifestcommitter.testing.SparkGround;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** One Spark write: the driver's real classes, and tasks that write straight into the store. */
public final class DriverJob {
  /** The driver that dies. */
  public static final String DEAD = "0a9d3c5e-4b1f-4f0e-9a55-31c0de5f8d01";

  /** In its rows. */
  public static final String DEAD_WORD = "dead";

  /** The one that comes after it. */
  public static final String NEXT = "91b2c7aa-7d20-4a36-b1c3-5e0fd2a4be02";

  /** No job that lives is to be waited for; one that may live is watched for the timeout. */
  public static Pause wouldWait() {
    int[] pauses = {0};
    return waiting -> {
      if (++pauses[0] > MOST_PAUSES) {
        throw new IOException("waits for a job that nobody goes on with");
      }
    };
  }

  /** Of two seconds each, in a heartbeat's timeout. */
  private static final int MOST_PAUSES = 23;

  private final SparkGround store;
  private final String jobId;
  private final Configuration conf;
  private final Map<String, Map<String, String>> locations = new TreeMap<>();
  private Pause pause = wouldWait();
  private int step = 2;
  private LongSupplier nanos = System::nanoTime;
  private SparkJob job;
  private List<Object> messages;

  /** A job that is not set up. */
  public DriverJob(SparkGround store, String jobId) {
    this.store = store;
    this.jobId = jobId;
    this.conf = store.configuration();
  }

  /** Sets an option. */
  public DriverJob with(String option, String value) {
    conf.set(option, value);
    return this;
  }

  /** What it does while it waits for another job; without this, it fails. */
  public DriverJob waiting(Pause newPause) {
    pause = newPause;
    return this;
  }

  /** How long it waits between two looks at others, in seconds. */
  public DriverJob waitingFor(int seconds) {
    step = seconds;
    return this;
  }

  /** The clock of its machine. */
  public DriverJob clock(LongSupplier newNanos) {
    nanos = newNanos;
    return this;
  }

  /** Will write a file. */
  public DriverJob file(String path, String content) {
    boolean isInTable = path.startsWith(SparkGround.TABLE + "/");
    String target = isInTable ? SparkGround.TABLE : path.substring(0, path.lastIndexOf('/'));
    locations
        .computeIfAbsent(target, key -> new LinkedHashMap<>())
        .put(path.substring(target.length() + 1), content);
    return this;
  }

  /** Sets it up for a write; what that adds it will write. */
  public DriverJob setUp(TableWrite write) throws IOException {
    if (write.isByConflicts()) {
      conf.set(CommitterConfig.CONFLICT_MODE, "replace");
    }
    write.rows().forEach(this::file);
    List<Path> named = new ArrayList<>();
    for (String place : write.named()) {
      named.add(resolved(place));
    }
    RequestGate gate = RequestGate.open();
    SparkJob started =
        new SparkJob(
            new WriteRequest(
                jobId,
                resolved(SparkGround.TABLE),
                new WriteRequest.Overwrite(named, write.isDynamic()),
                store.stores(conf, gate),
                new CommitterConfig(conf),
                new PassingTime(pause, step),
                nanos),
            gate);
    started.setUp();
    job = started;
    return this;
  }

  /** Has the tasks write and commit, one for each target. */
  public DriverJob runTasks() throws IOException {
    messages = messages();
    return this;
  }

  /** The job commit; of all tasks, if they did not run yet. */
  public void commit() throws IOException {
    if (messages == null) {
      runTasks();
    }
    commit(messages);
  }

  /** Has the tasks write; what they tell the driver. */
  public List<Object> messages() throws IOException {
    List<Object> told = new ArrayList<>();
    for (Map.Entry<String, Map<String, String>> target : locations.entrySet()) {
      Object message = task(told.size(), target.getKey(), target.getValue());
      job.taskCommitted(message);
      told.add(message);
    }
    return told;
  }

  /**
   * A task that writes files and commits.
   *
   * @param location {@link SparkGround#TABLE}, or a custom one
   * @param contents of its files, by their paths relative to there
   * @return what it tells the driver
   */
  Object task(int number, String location, Map<String, String> contents) throws IOException {
    Path table = resolved(SparkGround.TABLE);
    Path target = resolved(location);
    boolean isTable = target.equals(table);
    Store stores = store.stores(conf);
    if (!isTable) {
      new LocationMarks(stores, new StagingRoot(table, jobId)).write(target);
    }
    String named = isTable ? TaskMessage.TABLE : target.toString();
    if (stores.traits(target).completesUploads()) {
      UploadedTask uploads = new UploadedTask(stores, jobId, number);
      for (Map.Entry<String, String> file : contents.entrySet()) {
        uploads.add(named, target, file.getKey(), file.getValue());
      }
      return uploads.bytes();
    }
    contents.forEach(
        (file, content) ->
            store.put(location + "/_manifest_" + jobId + "/00/output/" + file, content));
    return new TaskMessage(jobId, number)
        .add(named, contents.keySet().toArray(new String[0]))
        .bytes();
  }

  /** By the name of the table's store, which the driver and its tasks ask for first. */
  private Path resolved(String path) throws IOException {
    Stores stores = new Stores(conf);
    stores.resolve(store.path(SparkGround.TABLE));
    return stores.resolve(store.path(path));
  }

  SparkJob job() {
    return job;
  }

  /** The job commit, of what some tasks told. */
  public void commit(List<Object> told) throws IOException {
    job.commit(told);
  }

  /** As Spark does after a commit that failed; nothing, if it is not set up. */
  public void abort() {
    if (job != null) {
      job.abort();
    }
  }
}
