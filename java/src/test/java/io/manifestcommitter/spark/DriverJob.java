package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Pause;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** One Spark write: the driver's real classes, and tasks that write straight into the store. */
final class DriverJob {
  /** The driver that dies. */
  static final String DEAD = "0a9d3c5e-4b1f-4f0e-9a55-31c0de5f8d01";

  /** In its rows. */
  static final String DEAD_WORD = "dead";

  /** The one that comes after it. */
  static final String NEXT = "91b2c7aa-7d20-4a36-b1c3-5e0fd2a4be02";

  /** Nobody is to be waited for. */
  static final Pause WOULD_WAIT =
      waiting -> {
        throw new IOException("waits for a job that nobody goes on with");
      };

  private final SparkGround store;
  private final String jobId;
  private final Configuration conf;
  private final Map<String, List<String>> locations = new TreeMap<>();
  private final Map<String, String> contents = new TreeMap<>();
  private Pause pause = WOULD_WAIT;
  private SparkJob job;

  DriverJob(SparkGround store, String jobId) {
    this.store = store;
    this.jobId = jobId;
    this.conf = store.configuration();
  }

  DriverJob with(String option, String value) {
    conf.set(option, value);
    return this;
  }

  /** What it does while it waits for another job; without this, it fails. */
  DriverJob waiting(Pause newPause) {
    pause = newPause;
    return this;
  }

  /** Will write a file. */
  DriverJob file(String path, String content) {
    boolean isInTable = path.startsWith(SparkGround.TABLE + "/");
    String target = isInTable ? SparkGround.TABLE : path.substring(0, path.lastIndexOf('/'));
    locations
        .computeIfAbsent(target, key -> new ArrayList<>())
        .add(path.substring(target.length() + 1));
    contents.put(path, content);
    return this;
  }

  /** Sets it up for a write; what that adds it will write. */
  DriverJob setUp(TableWrite write) throws IOException {
    if (write.isByConflicts()) {
      conf.set(CommitterConfig.CONFLICT_MODE, "replace");
    }
    write.rows().forEach(this::file);
    Stores stores = new Stores(conf);
    List<Path> named = new ArrayList<>();
    for (String place : write.named()) {
      named.add(stores.resolve(store.path(place)));
    }
    SparkJob started =
        new SparkJob(
            jobId,
            stores.resolve(store.path(SparkGround.TABLE)),
            write.isDynamic() ? Overwrite.dynamic(named) : Overwrite.recorded(named),
            store.stores(conf),
            RequestGate.open(),
            new CommitterConfig(conf),
            pause,
            System::nanoTime);
    started.setUp();
    job = started;
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
      TaskMessage message = new TaskMessage(jobId, messages.size(), messages.size());
      UploadedTask uploads = new UploadedTask(store.stores(conf), jobId, messages.size());
      String location = target.getKey();
      boolean isTable = location.equals(SparkGround.TABLE);
      Stores stores = new Stores(conf);
      Path named = stores.resolve(store.path(location));
      if (!isTable) {
        Path table = stores.resolve(store.path(SparkGround.TABLE));
        new LocationMarks(store.stores(conf), new StagingRoot(table, jobId)).write(named);
      }
      boolean isUploaded = store.stores(conf).traits(named).completesUploads();
      for (String file : target.getValue()) {
        if (isUploaded) {
          uploads.add(
              isTable ? TaskOutput.TABLE : named.toString(),
              named,
              file,
              contents.get(location + "/" + file));
          continue;
        }
        message.add(isTable ? TaskMessage.TABLE : named.toString(), file);
        store.put(
            location + "/_manifest_" + jobId + "/00/output/" + file,
            contents.get(location + "/" + file));
      }
      byte[] content = isUploaded ? uploads.bytes() : message.bytes();
      job.taskCommitted(content);
      messages.add(content);
    }
    return messages;
  }

  void commit(List<Object> messages) throws IOException {
    job.commit(messages);
  }

  /** As Spark does after a commit that failed; nothing, if it is not set up. */
  void abort() {
    if (job != null) {
      job.abort();
    }
  }
}
