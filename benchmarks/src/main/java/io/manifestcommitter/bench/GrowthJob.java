package io.manifestcommitter.bench;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.spark.ManifestCommitProtocol;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.apache.spark.internal.io.FileNameSpec;
import scala.Option;
import scala.collection.JavaConverters;

/**
 * A write of one file to each of many places, whose tasks have committed. What is replaced has one
 * old file in each place.
 */
final class GrowthJob {
  private static final String SCHEME = "abfs";
  private static final String TABLE = "/warehouse/sales/events";
  private static final String ELSEWHERE = "/elsewhere/sales/events";
  private static final String OLD_FILE = "/part-00000-old.parquet";
  private static final String JOB_ID = "b6b8f1c2-7a55-4c0e-9a53-0d0f3a1e5c77";
  private static final int FILES_PER_TASK = 100;
  private static final long FILE_LENGTH = 1 << 20;

  private final GrowthPlaces places;
  private final int count;
  private final String storeName;
  private final SimulatedStore store;
  private final Configuration conf = new Configuration();
  private final Path table;
  private final JobID jobId = new JobID("202601010000", 1);
  private final JobContext job;
  private final ManifestCommitProtocol protocol;
  private final List<TaskCommitMessage> messages = new ArrayList<>();

  /**
   * A write.
   *
   * @param count how many places
   * @param storeName a store of its own
   */
  GrowthJob(GrowthPlaces places, int count, String storeName) throws IOException {
    this.places = places;
    this.count = count;
    this.storeName = storeName;
    this.store = SimulatedStore.named(storeName);
    conf.set("fs." + SCHEME + ".impl", SimulatedFileSystem.class.getName());
    this.table = path(TABLE);
    this.job = new JobContextImpl(conf, jobId);
    this.protocol =
        new ManifestCommitProtocol(JOB_ID, table.toString(), places == GrowthPlaces.REPLACED);
    store.mkdirs(TABLE);
    writeOldData();
    protocol.setupJob(job);
    runTasks();
  }

  private void writeOldData() throws IOException {
    FileSystem fs = table.getFileSystem(conf);
    for (int place = 0; place < count && places != GrowthPlaces.NEW; place++) {
      store.plant(directory(place) + OLD_FILE, FILE_LENGTH);
      if (places == GrowthPlaces.LOCATIONS) {
        protocol.deleteWithJob(fs, path(directory(place)), true);
      }
    }
  }

  private void runTasks() throws IOException {
    byte[] sent = SparkWrite.bytes(protocol);
    for (int first = 0; first < count; first += FILES_PER_TASK) {
      TaskID task = new TaskID(jobId, TaskType.MAP, first / FILES_PER_TASK);
      TaskAttemptContext attempt = new TaskAttemptContextImpl(conf, new TaskAttemptID(task, 0));
      ManifestCommitProtocol executor = (ManifestCommitProtocol) SparkWrite.object(sent);
      executor.setupTask(attempt);
      for (int place = first; place < Math.min(count, first + FILES_PER_TASK); place++) {
        FileNameSpec name = new FileNameSpec("", ".c000.snappy.parquet");
        String file =
            places == GrowthPlaces.LOCATIONS
                ? executor.newTaskTempFileAbsPath(attempt, path(directory(place)).toString(), name)
                : executor.newTaskTempFile(attempt, Option.apply(partition(place)), name);
        store.plant(new Path(file).toUri().getPath(), FILE_LENGTH);
      }
      messages.add(executor.commitTask(attempt));
    }
  }

  private Path path(String path) {
    return new Path(SCHEME, storeName, path);
  }

  private String directory(int place) {
    return (places == GrowthPlaces.LOCATIONS ? ELSEWHERE : TABLE) + "/" + partition(place);
  }

  private static String partition(int place) {
    return "p=" + place;
  }

  /** Job commit, to its end. */
  void commit() {
    protocol.commitJob(job, JavaConverters.asScalaBufferConverter(messages).asScala().toSeq());
  }

  /** Job commit whose report the store refuses, and the abort that Spark calls for. */
  void rollBack() throws IOException {
    store.refuse(GrowthJob::isReport);
    requireFailure();
    store.refuse((kind, path) -> false);
    protocol.abortJob(job);
  }

  /** As if the driver died while it wrote the report. */
  void die() throws IOException {
    boolean[] dead = {false};
    store.refuse(
        (kind, path) -> {
          dead[0] |= isReport(kind, path);
          return dead[0];
        });
    requireFailure();
    protocol.abortJob(job);
    store.refuse((kind, path) -> false);
  }

  private static boolean isReport(RequestKind kind, String path) {
    return kind == RequestKind.CREATE && path.contains("_SUCCESS");
  }

  /** Recovers what {@link #die} left. */
  void recover(Direction direction) throws IOException {
    new Recovery(new Stores(conf).all(), new CommitterConfig(conf), /* force= */ true)
        .run(new StagingRoot(table, JOB_ID), direction);
  }

  private void requireFailure() throws IOException {
    try {
      commit();
    } catch (Exception e) {
      return;
    }
    throw new IOException("The commit did not fail");
  }

  /**
   * Requires that each place has the new data alone, or the old alone, and that nothing of the job
   * is left.
   */
  void check(GrowthData expected) throws IOException {
    for (int place = 0; place < count; place++) {
      if (!holds(directory(place), expected)) {
        throw new IOException(directory(place) + " does not hold the " + expected + " data alone");
      }
    }
    if (store.find(new StagingRoot(table, JOB_ID).root().toUri().getPath()).isPresent()) {
      throw new IOException("The staging directory is still there");
    }
  }

  private boolean holds(String directory, GrowthData expected) throws IOException {
    if (!store.find(directory).isPresent()) {
      return expected == GrowthData.OLD && places == GrowthPlaces.NEW;
    }
    boolean isOld = store.find(directory + OLD_FILE).isPresent();
    return store.list(directory).orElseThrow().size() == 1 && isOld == (expected == GrowthData.OLD);
  }
}
