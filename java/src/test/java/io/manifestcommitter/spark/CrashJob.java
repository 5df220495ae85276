package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Pause;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** One Spark write: the driver's real classes, and tasks that write straight into the store. */
final class CrashJob {
  /** The driver that dies. */
  static final String DEAD = "0a9d3c5e-4b1f-4f0e-9a55-31c0de5f8d01";

  /** The one that comes after it. */
  static final String NEXT = "91b2c7aa-7d20-4a36-b1c3-5e0fd2a4be02";

  /** Nobody is to be waited for. */
  static final Pause WOULD_WAIT =
      () -> {
        throw new IOException("waits for a job that nobody goes on with");
      };

  private final CrashStore store;
  private final String jobId;
  private final Configuration conf;
  private final Map<String, List<String>> locations = new TreeMap<>();
  private final Map<String, String> contents = new TreeMap<>();
  private Pause pause = WOULD_WAIT;
  private SparkJob job;

  CrashJob(CrashStore store, String jobId) {
    this.store = store;
    this.jobId = jobId;
    this.conf = store.configuration();
  }

  CrashJob with(String option, String value) {
    conf.set(option, value);
    return this;
  }

  /** What it does while it waits for another job; without this, it fails. */
  CrashJob waiting(Pause newPause) {
    pause = newPause;
    return this;
  }

  /** Will write a file. */
  CrashJob file(String path, String content) {
    boolean isInTable = path.startsWith(CrashStore.TABLE + "/");
    String target = isInTable ? CrashStore.TABLE : path.substring(0, path.lastIndexOf('/'));
    locations
        .computeIfAbsent(target, key -> new ArrayList<>())
        .add(path.substring(target.length() + 1));
    contents.put(path, content);
    return this;
  }

  /**
   * Sets it up.
   *
   * @param overwrite what it does with the paths that Spark says are to be replaced
   */
  CrashJob setUp(Function<List<Path>, Overwrite> overwrite, List<Path> replaced)
      throws IOException {
    Stores stores = new Stores(conf);
    Path table = stores.resolve(store.path(CrashStore.TABLE));
    List<Path> named = new ArrayList<>();
    for (Path path : replaced) {
      named.add(stores.resolve(path));
    }
    job =
        new SparkJob(
            jobId,
            table,
            overwrite.apply(named),
            store.stores(conf),
            RequestGate.open(),
            new CommitterConfig(conf),
            pause,
            System::nanoTime);
    job.setUp();
    return this;
  }

  /** All tasks, one for each target, and the job commit. */
  void commit() throws IOException {
    job.commit(messages());
  }

  /** Has the tasks write; what they tell the driver. */
  List<Object> messages() throws IOException {
    List<Object> messages = new ArrayList<>();
    for (Map.Entry<String, List<String>> target : locations.entrySet()) {
      TaskOutput.Builder output = TaskOutput.builder(jobId, messages.size(), messages.size());
      String location = target.getKey();
      boolean isTable = location.equals(CrashStore.TABLE);
      Stores stores = new Stores(conf);
      Path table = stores.resolve(store.path(CrashStore.TABLE));
      Path named = stores.resolve(store.path(location));
      if (!isTable) {
        new LocationMarks(store.stores(conf), new StagingRoot(table, jobId)).write(named);
      }
      for (String file : target.getValue()) {
        int slash = file.lastIndexOf('/');
        output.add(
            isTable ? TaskOutput.TABLE : named.toString(),
            slash < 0 ? "" : file.substring(0, slash),
            file.substring(slash + 1));
        store
            .state()
            .write(
                store.inStore(location) + "/_manifest_" + jobId + "/00/output/" + file,
                contents.get(location + "/" + file));
      }
      messages.add(output.build().toBytes());
    }
    return messages;
  }

  void commit(List<Object> messages) throws IOException {
    job.commit(messages);
  }

  /** As Spark does after a commit that failed. */
  void abort() {
    job.abort();
  }
}
