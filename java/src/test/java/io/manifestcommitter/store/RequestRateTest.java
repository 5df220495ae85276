package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.Statistics;
import io.manifestcommitter.manifest.StatisticsRecorder;
import io.manifestcommitter.testing.MemoryFileSystem;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class RequestRateTest {
  private final Time time = new Time();
  private final StatisticsRecorder statistics = new StatisticsRecorder();

  @Test
  void requestsAreSpreadEvenly() throws Exception {
    RequestRate rate = rate(10);
    for (int i = 0; i < 4; i++) {
      rate.await();
    }
    assertThat(time.waits).containsExactly(100L, 100L, 100L);
  }

  @Test
  void requestsThatComeSlowlyDoNotWait() throws Exception {
    RequestRate rate = rate(10);
    for (int i = 0; i < 4; i++) {
      rate.await();
      time.now += TimeUnit.MILLISECONDS.toNanos(150);
    }
    assertThat(time.waits).isEmpty();
  }

  @Test
  void aPauseIsNotMadeUpForByABurst() throws Exception {
    RequestRate rate = rate(10);
    rate.await();
    time.now += TimeUnit.SECONDS.toNanos(60);
    rate.await();
    rate.await();

    assertThat(time.waits).containsExactly(100L);
  }

  @Test
  void withoutALimitNothingWaits() throws Exception {
    RequestRate rate = rate(0);
    for (int i = 0; i < 1000; i++) {
      rate.await();
    }
    assertThat(time.waits).isEmpty();
    assertThat(statistics.snapshot()).isEqualTo(Statistics.empty());
  }

  @Test
  void waitsAreCountedAndTimed() throws Exception {
    RequestRate rate = rate(4);
    for (int i = 0; i < 3; i++) {
      rate.await();
    }
    assertThat(statistics.snapshot().counters()).containsEntry("store_io_rate_limited", 2L);
    assertThat(statistics.snapshot().means())
        .containsEntry("store_io_rate_limited.mean", new Statistics.Mean(2, 500));
  }

  @Test
  void anInterruptEndsTheWait() throws Exception {
    RequestRate rate = rate(10);
    rate.await();
    time.interrupts = true;

    assertThatThrownBy(rate::await).isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void everyRequestOfAStoreCounts() throws Exception {
    MemoryFileSystem.state("rate").clear();
    MemoryFileSystem.state("rate").write("/t/a", "content");
    Path table = new Path("mem://rate/t");
    FileSystem fs = table.getFileSystem(MemoryFileSystem.configuration());
    Store store = new HadoopStore(fs, StoreTraits.UNKNOWN, rate(1000));
    store.mkdirs(new Path(table, "p"));
    store.status(table);
    store.list(table, entry -> {});
    store.read(new Path(table, "a"), 100);
    store.write(new Path(table, "b"), out -> out.write(1));
    store.deleteFile(new Path(table, "b"));
    store.deleteEmptyDirectory(new Path(table, "p"));
    store.deleteTree(table);

    assertThat(MemoryFileSystem.state("rate").requests()).hasSize(8);
    assertThat(time.waits).hasSize(7).containsOnly(1L);
  }

  private RequestRate rate(int perSecond) {
    RequestRate rate = new RequestRate(perSecond, time);
    rate.recordTo(statistics);
    return rate;
  }

  /** Time that passes only where somebody waits. */
  private static final class Time implements RequestRate.Clock {
    private final List<Long> waits = new ArrayList<>();
    private long now = -5;
    private boolean interrupts;

    @Override
    public long nanos() {
      return now;
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
      if (interrupts) {
        throw new InterruptedException();
      }
      waits.add(TimeUnit.NANOSECONDS.toMillis(nanos));
      now += nanos;
    }
  }
}
