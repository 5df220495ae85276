// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.spark.ManifestCommitProtocol;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.SparkCalls;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;

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
  private static final String NAME_END = ".c000.snappy.parquet";
  private static final int FILES_PER_TASK = 100;
  private static final long FILE_LENGTH = 1 << 20;

  private final GrowthPlaces places;
  private final int count;
  private final String storeName;
  private final SimulatedStore store;
  private final Configuration conf = new Configuration();
  private final Path table;
  private final SparkCalls calls;
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
    this.calls =
        new SparkCalls(
            new ManifestCommitProtocol(JOB_ID, table.toString(), places == GrowthPlaces.REPLACED),
            JOB_ID,
            conf);
    store.mkdirs(TABLE);
    writeOldData();
    calls.setUp();
    runTasks();
  }

  private void writeOldData() throws IOException {
    for (int place = 0; place < count && places != GrowthPlaces.NEW; place++) {
      store.plant(directory(place) + OLD_FILE, FILE_LENGTH);
      if (places == GrowthPlaces.LOCATIONS) {
        calls.replace(path(directory(place)));
      }
    }
  }

  private void runTasks() throws IOException {
    for (int first = 0; first < count; first += FILES_PER_TASK) {
      SparkCalls.Attempt attempt = calls.attempt(first / FILES_PER_TASK, 0);
      for (int place = first; place < Math.min(count, first + FILES_PER_TASK); place++) {
        Path file =
            places == GrowthPlaces.LOCATIONS
                ? attempt.newFileAt(path(directory(place)), NAME_END)
                : attempt.newFile(partition(place), NAME_END);
        store.plant(file.toUri().getPath(), FILE_LENGTH);
      }
      messages.add(attempt.commit());
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
    calls.commit(messages);
  }

  /** Job commit whose report the store refuses, and the abort that Spark calls for. */
  void rollBack() throws IOException {
    store.refuse(GrowthJob::isReport);
    requireFailure();
    store.refuse((kind, path) -> false);
    calls.abort();
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
    calls.abort();
    store.refuse((kind, path) -> false);
  }

  private static boolean isReport(RequestKind kind, String path) {
    return kind == RequestKind.CLOSE && path.endsWith("/_SUCCESS");
  }

  /** Recovers what {@link #die} left. */
  void recover(Direction direction) throws IOException {
    Recoveries.of(conf, /* force= */ true).run(new StagingRoot(table, JOB_ID), direction);
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
