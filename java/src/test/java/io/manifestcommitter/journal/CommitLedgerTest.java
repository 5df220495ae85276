// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.store.Stores;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommitLedgerTest {
  private static final String RUN = "scheduled__2026-11-28T00:00:00+00:00";

  @TempDir File table;
  private CommitLedger ledger;

  @BeforeEach
  void open() {
    ledger = new CommitLedger(new Stores(new Configuration()).all(), new Path(table.toURI()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", RUN, "..", ".", "a/b", "p=1", "a b*?[c]%41", "größer", "_x"})
  void anIdentityIsFoundAsItWasGiven(String id) throws IOException {
    assertThat(ledger.find(id)).isEmpty();

    ledger.add(id, "job", "app-1");

    Record entry = ledger.find(id).orElseThrow();
    assertThat(entry.text("id")).isEqualTo(id);
    assertThat(entry.text("jobId")).isEqualTo("job");
    assertThat(entry.text("application")).contains("app-1");
    assertThat(ledger.list()).containsExactly(id);
    assertThat(CommitLedger.locked(CommitLedger.lock(id))).contains(id);
    ledger.forget(id);
    ledger.forget(id);
    assertThat(ledger.list()).isEmpty();
  }

  @Test
  void nobodyTakesTheDirectoryForAJobs() {
    String name = StagingRoot.commitIds(new Path("/table")).getParent().getName();
    assertThat(StagingRoot.isStaging(name)).as("overwrites leave it").isTrue();
    assertThat(StagingRoot.isHidden(name)).isTrue();
    assertThat(StagingRoot.jobOf(name)).isEmpty();
    assertThat(StagingRoot.sparkJobOf(name)).isEmpty();
    assertThat(CommitLedger.locked(new Path("file:/table/p=1"))).isEmpty();
  }

  @Test
  void theOldestGoFirstByCountAndByAge() throws IOException {
    for (int day = 1; day <= 5; day++) {
      ledger.add("day " + day, "job", null);
      assertThat(file("day " + day).setLastModified(day * 1000L)).isTrue();
    }
    assertThat(ledger.list()).startsWith("day 5", "day 4");

    ledger.prune(4, 1_000_000);
    assertThat(ledger.list()).containsExactly("day 5", "day 4", "day 3", "day 2");

    ledger.prune(4, 2_000);
    assertThat(ledger.list()).containsExactly("day 5", "day 4", "day 3");
  }

  @Test
  void aDamagedFileIsNoAnswer() throws IOException {
    ledger.add(RUN, "job", null);
    byte[] whole = Files.readAllBytes(file(RUN).toPath());
    for (int length : List.of(0, 1, whole.length / 2, whole.length - 1)) {
      // Hadoop's checksum would notice it first.
      Files.deleteIfExists(
          new File(file(RUN).getParent(), "." + file(RUN).getName() + ".crc").toPath());
      Files.write(file(RUN).toPath(), Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> ledger.find(RUN))
          .isInstanceOf(CorruptManifestException.class)
          .hasMessageContainingAll(RUN, "delete the file and run the job again");
    }
  }

  private File file(String id) {
    return new File(table, "_manifest_/ids/" + CommitLedger.lock(id).getName());
  }
}
