package io.manifestcommitter.spark;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** One Spark write of a kind, at the moment before its job commit. */
final class ReaderJob {
  static final String TABLE = "/table";
  static final String LAST_REPORT = "the last report";
  static final String JOB_ID = "7d0c2f9e-52a1-4a0b-9a44-6f7a31c8e2d5";
  static final String ATTEMPT = TABLE + "/_manifest_" + JOB_ID + "/00";

  private final ReaderStore store;
  private final ReaderWrite write;
  private final Configuration conf;
  private final Path table;
  private final List<Object> messages = new ArrayList<>();
  private final SparkJob job;

  /** Fills a table, and has the tasks of a job write to it. */
  ReaderJob(ReaderStore store, ReaderWrite write, String directoryRename, int threads)
      throws IOException {
    this.store = store;
    this.write = write;
    this.conf = store.configuration();
    this.table = store.path(TABLE);
    conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    conf.setInt("mapreduce.manifest.committer.io.threads", threads);
    conf.set(
        CommitterConfig.CONFLICT_MODE,
        write.replaces() == ReaderWrite.Replaces.CONFLICTS ? "replace" : "append");
    for (ReaderPlace place : write.places()) {
      place.oldFiles().forEach(file -> store.put(file, "old " + file));
    }
    if (write.hasLastReport()) {
      store.put(TABLE + "/" + JobPaths.SUCCESS_MARKER, LAST_REPORT);
      store.put(TABLE + "/" + JobPaths.FILE_LIST, "the last list");
    }
    job =
        new SparkJob(
            JOB_ID,
            table,
            overwrite(),
            new Stores(conf).all(),
            RequestGate.open(),
            new CommitterConfig(conf));
    job.setUp();
    int task = 0;
    for (ReaderPlace place : write.places()) {
      commitTask(task++, place);
    }
  }

  ReaderStore store() {
    return store;
  }

  ReaderWrite write() {
    return write;
  }

  void commit() throws IOException {
    job.commit(messages);
  }

  /** As Spark does after a commit that failed. */
  void abort() {
    job.abort();
  }

  /** Recovers what was left of the job, if anything was. */
  void recover() throws IOException {
    Recovery recovery =
        new Recovery(new Stores(conf).all(), new CommitterConfig(conf), /* force= */ true);
    for (StagingRoot root : recovery.find(table)) {
      recovery.run(root, Recovery.Direction.AS_MARKED);
    }
  }

  private Overwrite overwrite() {
    List<Path> recorded = new ArrayList<>();
    switch (write.replaces()) {
      case TABLE_AND_LOCATIONS:
        recorded.add(table);
        write.places().forEach(place -> recorded.add(store.path(place.path())));
        break;
      case TABLE:
        recorded.add(table);
        break;
      case FIRST_PLACE:
        recorded.add(store.path(write.places().get(0).path()));
        break;
      case WHAT_IS_WRITTEN:
        return Overwrite.dynamic(recorded);
      default:
        break;
    }
    return Overwrite.recorded(recorded);
  }

  private void commitTask(int task, ReaderPlace place) throws IOException {
    TaskOutput.Builder output = TaskOutput.builder(JOB_ID, task, task);
    if (place.isCustomLocation() && !place.freshNames().isEmpty()) {
      Path location = store.path(place.path());
      new LocationMarks(new Stores(conf).all(), new StagingRoot(table, JOB_ID)).write(location);
      for (String name : place.freshNames()) {
        output.add(location.toString(), "", name);
        stage(place.path(), name, place.path() + "/" + name);
      }
    } else {
      for (String file : place.freshFiles()) {
        String relative = file.substring(TABLE.length() + 1);
        int slash = relative.lastIndexOf('/');
        output.add(
            TaskOutput.TABLE,
            slash < 0 ? "" : relative.substring(0, slash),
            relative.substring(slash + 1));
        stage(TABLE, relative, file);
      }
    }
    messages.add(output.build().toBytes());
  }

  private void stage(String target, String relative, String destination) {
    store.put(target + "/_manifest_" + JOB_ID + "/00/output/" + relative, "new " + destination);
  }
}
