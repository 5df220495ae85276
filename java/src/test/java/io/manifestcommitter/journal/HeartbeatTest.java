// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.Heartbeat.SilentDriverException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HeartbeatTest {
  private static final String ROOT = "/table/_manifest_job";
  private static final Set<String> READING =
      Set.of(
          "traits",
          "shortcoming",
          "named",
          "status",
          "list",
          "listIfThere",
          "identified",
          "waitingUploads",
          "read",
          "readStart",
          "modified",
          "deletionDenied",
          "awaitRenames",
          "release",
          "pastLimits",
          "guardedBy");

  private final MemoryStoreState state = MemoryFileSystem.state("heartbeat");
  private final Configuration conf = MemoryFileSystem.configuration();

  @Test
  void beatsPassTheRateLimitOfTheJob() throws IOException {
    state.clear();
    RequestGate gate = new RequestGate(1, 1, 0, () -> {});
    Store store = new Stores(conf, gate).all();
    try (Heartbeat heartbeat = start(store, "abfs", 20)) {
      store.status(path("abfs", "/table"));
      store.status(path("abfs", "/table"));
      store.status(path("abfs", "/table"));
      assertThat(heartbeat.isSilent()).isFalse();
    }
    assertThat(beats()).isGreaterThan(10);
  }

  /** On HDFS without a block, and on Azure without appending. */
  @ParameterizedTest
  @CsvSource({"abfs, 0", "hdfs, 0", "gs, 6", "mem, 6"})
  void aBeatIsAnEmptyFileWhereThatSavesARequest(String scheme, long length) throws IOException {
    state.clear();
    Store store = new Stores(conf).all();
    try (Heartbeat heartbeat = start(store, scheme, 20_000)) {
      Path file = path(scheme, ROOT + "/heartbeat");
      assertThat(store.status(file).orElseThrow().length()).isEqualTo(length);
      assertThat(heartbeat.isSilent()).isFalse();
    }
  }

  @Test
  void anErrorDoesNotEndTheBeats() throws Exception {
    state.clear();
    try (Heartbeat heartbeat = start(new Stores(conf).all(), "abfs", 5)) {
      state.onRequest(
          (number, operation, path) -> {
            if (number < 5) {
              throw new NoClassDefFoundError("a jar that was replaced");
            }
            return Fate.NORMAL;
          });
      awaitBeats(8);
      assertThat(heartbeat.isSilent()).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "hdfs", "gs", "mem"})
  void beatsGoOnOnceSomebodyClosedTheFilesystem(String scheme) throws Exception {
    state.clear();
    Configuration shared = MemoryFileSystem.sharedConfiguration();
    try (Heartbeat heartbeat = start(new Stores(shared).all(), scheme, 5)) {
      FileSystem.get(path(scheme, "/").toUri(), shared).close();
      awaitBeats(beats() + 3);
      assertThat(heartbeat.isSilent()).isFalse();
    }
  }

  @Test
  void aSilentDriverChangesNothingUntilItResumes() throws IOException {
    state.clear();
    AtomicLong time = new AtomicLong();
    Store plain = new Stores(conf).all();
    CommitterConfig config = new CommitterConfig(conf);
    Path root = path("abfs", ROOT);
    try (Heartbeat heartbeat = Heartbeat.begin(plain, root, config, time::get)) {
      heartbeat.await();
      Store store = heartbeat.guard(plain);
      time.addAndGet(TimeUnit.SECONDS.toNanos(35));
      store.mkdirs(path("abfs", "/table/in-time"));
      time.addAndGet(TimeUnit.SECONDS.toNanos(2));
      state.resetRequests();
      assertThatThrownBy(() -> store.mkdirs(path("abfs", "/table/late")))
          .isInstanceOf(SilentDriverException.class)
          .hasMessageContaining(ROOT + "/heartbeat")
          .hasMessageContainingAll("37 s", "heartbeat.timeout", "Run the job again");
      requireNoChange(store, root);
      requireNoChange(store.pastLimits(), root);
      assertThat(state.requests()).isEmpty();
      assertThat(store.status(root)).isPresent();

      heartbeat.forgetSilence();
      store.mkdirs(path("abfs", "/table/again"));
    }
  }

  /** A change that a store learns to make must not get past a driver that is silent. */
  private static void requireNoChange(Store store, Path path) {
    FileEntry file = new FileEntry(path, new Path(path, "x"), 1, null, 0);
    for (Method method : Store.class.getDeclaredMethods()) {
      // A static one writes by those of the store that it is given.
      boolean isRequest =
          Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers());
      if (!isRequest || READING.contains(method.getName())) {
        continue;
      }
      Object[] arguments =
          Arrays.stream(method.getParameterTypes())
              .map(type -> type == Path.class ? path : type == FileEntry.class ? file : null)
              .toArray();
      assertThatThrownBy(() -> requireDone(method.invoke(store, arguments)))
          .as(method.getName())
          .hasCauseInstanceOf(SilentDriverException.class);
    }
  }

  private static void requireDone(Object answer) throws IOException {
    ((RenameResult) answer).orThrow("Not renamed");
  }

  /** In between others may have taken the driver for dead. */
  @Test
  void aBeatThatComesTooLateDoesNotEndTheSilence() throws Exception {
    state.clear();
    AtomicLong time = new AtomicLong();
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "5ms");
    Store plain = new Stores(conf).all();
    try (Heartbeat heartbeat =
        Heartbeat.begin(plain, path("abfs", ROOT), new CommitterConfig(conf), time::get)) {
      awaitBeats(2);
      assertThat(heartbeat.isSilent()).isFalse();
      time.addAndGet(TimeUnit.SECONDS.toNanos(50));
      awaitBeats(beats() + 3);
      assertThat(heartbeat.isSilent()).isTrue();
      heartbeat.forgetSilence();
      assertThat(heartbeat.isSilent()).isFalse();
    }
  }

  private Heartbeat start(Store store, String scheme, int millis) throws IOException {
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, millis + "ms");
    return Heartbeat.start(store, path(scheme, ROOT), new CommitterConfig(conf));
  }

  private static Path path(String scheme, String path) {
    return new Path(scheme, "heartbeat", path);
  }

  private long beats() {
    return state.requests().stream().filter(request -> request.endsWith("/heartbeat")).count();
  }

  private void awaitBeats(long count) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (beats() < count && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    assertThat(beats()).isGreaterThanOrEqualTo(count);
  }
}
