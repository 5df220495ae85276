// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.testing.SparkCalls;
import io.manifestcommitter.testing.TableWrite;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;

/**
 * A write without computation into a simulated store: the tasks' files are put there, and every
 * call of the commit protocol is the one that Spark makes.
 */
final class SparkBenchJob {
  private static final String SCHEME = "abfs";
  private static final String TABLE = "/warehouse/sales/events";
  private static final String JOB_ID = "b6b8f1c2-7a55-4c0e-9a53-0d0f3a1e5c77";
  private static final String OLD_WRITER = "-11111111-7a55-4c0e-9a53-0d0f3a1e5c77";
  private static final String OTHER_PARTITION = "/other=1/part-00000.snappy.parquet";
  private static final long FILE_LENGTH = 1 << 20;

  /** What a task takes, in nanoseconds: what began in setup is over when the job commits. */
  private static final long ONE_TASK = TimeUnit.MILLISECONDS.toNanos(500);

  private final SimulatedStore store;
  private final SparkWriteKind kind;
  private final JobShape shape;
  private final JobShape old;
  private final SparkCalls write;
  private final Path table;

  /** Each task would copy any other kind. */
  private final JobConf conf;

  private final ByteBuffer[] messages;

  /**
   * A write.
   *
   * @param storeName the store it writes to
   */
  SparkBenchJob(SparkContender contender, SparkWriteKind kind, JobShape shape, String storeName) {
    this.store = SimulatedStore.named(storeName);
    this.kind = kind;
    this.shape = shape.namedBy(contender.writer(JOB_ID));
    this.old = shape.namedBy(OLD_WRITER);
    this.messages = new ByteBuffer[shape.tasks()];
    this.conf = new JobConf();
    conf.set("fs." + SCHEME + ".impl", SimulatedFileSystem.class.getName());
    conf.setInt("mapreduce.job.application.attempt.id", 0);
    conf.set("spark.sql.sources.writeJobUUID", JOB_ID);
    this.table = new Path(SCHEME, storeName, TABLE);
    FileCommitProtocol protocol = contender.bind(conf, JOB_ID, table, kind.write().isDynamic());
    this.write = new SparkCalls(protocol, JOB_ID, conf);
  }

  /**
   * Runs it from its setup, to which the deletion of an overwrite belongs, to its end.
   *
   * @param before measures what comes before job commit
   * @param meter measures job commit
   */
  List<Measurement> run(Meter before, Meter meter) throws IOException {
    plantOldData();
    List<Measurement> measurements = new ArrayList<>();
    measurements.add(before.measure(Phase.JOB_SETUP, this::setUp));
    measurements.add(
        before.measure(Phase.TASK_COMMIT, () -> Executors.run(shape.tasks(), this::runTask)));
    if (shape.files() == 1) {
      LockSupport.parkNanos(ONE_TASK);
    }
    measurements.add(meter.measure(Phase.JOB_COMMIT, this::commit));
    return measurements;
  }

  /** What is wrong with the table after the write; empty if nothing is. */
  String verdict() throws IOException {
    Set<String> found = new TreeSet<>();
    addVisible("", found);
    int missing = shape.files() - removed(found, files(shape));
    Set<String> oldFiles = kind.onOldData() ? files(old) : Set.of();
    TableWrite done = kind.write().with(rows(files(shape)));
    int oldExpected = (int) oldFiles.stream().filter(file -> !done.replaces(file)).count();
    int oldLeft = removed(found, oldFiles);
    boolean other = found.remove(OTHER_PARTITION);
    List<String> wrong = new ArrayList<>();
    if (missing > 0) {
      wrong.add(missing + " new files are missing");
    }
    if (oldLeft > oldExpected) {
      wrong.add(oldLeft + " old files are still there");
    }
    if (oldLeft < oldExpected) {
      wrong.add((oldExpected - oldLeft) + " old files are gone");
    }
    if (other == done.replaces(OTHER_PARTITION)) {
      wrong.add("another partition is " + (other ? "still there" : "gone"));
    }
    if (!found.isEmpty()) {
      wrong.add(found.size() + " files are of nobody, such as " + found.iterator().next());
    }
    return String.join(", ", wrong);
  }

  private void plantOldData() throws IOException {
    store.plant(TABLE + OTHER_PARTITION, FILE_LENGTH);
    if (kind.onOldData()) {
      for (String file : files(old)) {
        store.plant(TABLE + file, FILE_LENGTH);
      }
    }
  }

  private void setUp() throws IOException {
    if (!kind.write().named().isEmpty()) {
      FileSystem fs = table.getFileSystem(conf);
      if (fs.exists(table)) {
        write.replace(table);
      }
    }
    write.setUp();
  }

  /** What the driver will get lies outside the heap until it gets it. */
  private void runTask(int task) throws IOException {
    SparkCalls.Attempt attempt =
        shape.write(write, task, (path, file) -> store.plant(path, FILE_LENGTH));
    byte[] message = SparkCalls.bytes(attempt.commit());
    messages[task] = ByteBuffer.allocateDirect(message.length).put(message).flip();
  }

  private void commit() throws IOException {
    List<TaskCommitMessage> received = new ArrayList<>();
    for (ByteBuffer message : messages) {
      byte[] bytes = new byte[message.limit()];
      message.duplicate().get(bytes);
      received.add((TaskCommitMessage) SparkCalls.object(bytes));
    }
    write.commit(received);
  }

  /** Takes files out of others; says how many of them were there. */
  private static int removed(Set<String> from, Set<String> files) {
    int before = from.size();
    from.removeAll(files);
    return before - from.size();
  }

  private static Map<String, String> rows(Set<String> files) {
    return files.stream().collect(Collectors.toMap(file -> file, file -> ""));
  }

  private static Set<String> files(JobShape shape) {
    Set<String> files = new TreeSet<>();
    for (int file = 0; file < shape.files(); file++) {
      files.add("/" + shape.path(file));
    }
    return files;
  }

  private void addVisible(String directory, Set<String> found) throws IOException {
    for (Map.Entry<String, StoreNode> entry : store.list(TABLE + directory).orElseThrow()) {
      String path = directory + "/" + entry.getKey();
      if (entry.getKey().startsWith("_") || entry.getKey().startsWith(".")) {
        continue;
      }
      if (entry.getValue().isDirectory()) {
        addVisible(path, found);
      } else {
        found.add(path);
      }
    }
  }
}
