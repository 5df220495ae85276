// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.connectors.EmulatedStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Listings through hadoop-azure: page by page where that costs no request more, else at once. */
class AbfsListingIT {
  private static final int ENTRIES = 300;
  private static final int PAGE = 10;

  /** What the driver fetches ahead, the page that it cannot hand over yet, and the one taken. */
  private static final int PAGES_HELD = 12;

  private final Path directory = EmulatedStore.ABFS.newRoot("listing");
  private FileSystem fs;
  private AbfsStore store;

  @BeforeEach
  void open() throws IOException {
    Configuration conf = EmulatedStore.ABFS.conf();
    conf.setInt("fs.azure.list.max.results", PAGE);
    // Else a store whose filesystem is closed opens one with these pages, which others then find.
    conf.setBoolean("fs.abfs.impl.disable.cache", true);
    fs = FileSystem.newInstance(directory.toUri(), conf);
    store = new AbfsStore(fs, RequestGate.open());
    fs.mkdirs(directory);
    EmulatedStore.abfs().log().clear();
  }

  @AfterEach
  void close() throws IOException {
    fs.close();
  }

  @Test
  void aSmallDirectoryIsOneRequest() throws IOException {
    assertThat(listed()).isEmpty();
    assertThat(requests()).isEqualTo(Map.of("list", 1L));

    fill(PAGE);

    assertThat(listed()).hasSize(PAGE);
    assertThat(requests()).isEqualTo(Map.of("list", 1L));
  }

  @Test
  void soIsADirectoryThatIsNotThere() {
    assertThatThrownBy(() -> store.list(new Path(directory, "none"), 0, entry -> {}))
        .isInstanceOf(FileNotFoundException.class);
    assertThat(requests()).isEqualTo(Map.of("list", 1L));
  }

  @Test
  void ofALargeDirectoryFewPagesAreHeldAtOnce() throws IOException {
    fill(ENTRIES);

    RemoteIterator<FileStatus> entries = store.requestListing(directory);
    entries.next();

    if (isPaged()) {
      assertThat(requests().get("list")).isLessThanOrEqualTo(PAGES_HELD);
    }
    int others = 0;
    for (; entries.hasNext(); entries.next()) {
      others++;
    }
    assertThat(others).isEqualTo(ENTRIES - 1);
    assertThat(requests()).isEqualTo(Map.of("list", (long) ENTRIES / PAGE));
  }

  @Test
  void noThreadWaitsForSomebodyToTakeTheRest() throws Exception {
    fill(ENTRIES);

    assertThat(store.deleteEmptyDirectory(directory)).isFalse();

    assertThat(requests()).containsEntry("list", (long) ENTRIES / PAGE);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (isFetching() && System.nanoTime() < end) {
      Thread.sleep(10);
    }
    assertThat(isFetching()).isFalse();
  }

  private static boolean isPaged() {
    return !VersionInfo.getVersion().equals("3.3.4");
  }

  private static boolean isFetching() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(frame -> frame.getClassName().endsWith(".AbfsListStatusRemoteIterator"));
  }

  private void fill(int entries) throws IOException {
    for (int entry = 0; entry < entries; entry++) {
      fs.mkdirs(new Path(directory, "p=" + entry));
    }
    EmulatedStore.abfs().log().clear();
  }

  private List<Path> listed() throws IOException {
    List<Path> paths = new ArrayList<>();
    store.list(directory, 0, entry -> paths.add(entry.path()));
    return paths;
  }

  private static Map<String, Long> requests() {
    return EmulatedStore.abfs().log().counts();
  }
}
