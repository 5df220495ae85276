// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileIdentity.Upload;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.manifest.RecordFile;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.Target;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Plans that are small as a file and large in memory. */
class HostilePlanTest {
  private static final Path TABLE = new Path("abfs://c@a/table");
  private static final Path STAGING = new Path(TABLE, "_manifest_job");
  private static final String UPLOADED = new Upload("id", List.of("0a")).toEtag("");
  private static final int MANY = 4000;

  @ParameterizedTest
  @ValueSource(strings = {"made", "old", "oldFile", "swap", "file", "upload"})
  void needTheMemoryThatTheyNeedAndNotMore(String kind) throws IOException {
    byte[] plan = plan(kind);
    assertThat(plan).hasSizeLessThan(1 << 20);
    read(plan, Runtime.getRuntime().maxMemory()).close();
    assertThatThrownBy(() -> read(plan, 16 << 20))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(CorruptManifestException.class)
        .hasMessageContainingAll("j-0 needs more memory than this JVM has", "-Xmx");
  }

  @ParameterizedTest
  @CsvSource({
    "7,run,true",
    "7,'',false",
    "7,,false",
    "6,,true",
    "8,run,true",
    "8,,true",
    "9,run,false",
    "7,LONG,false"
  })
  void aPlanHasTheIdentityThatItsVersionHas(long version, String id, boolean isRead)
      throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RecordFile.Writer records = new RecordFile.Writer(out);
    Record job = new Record("job").with("version", version).with("jobId", "job").with("tasks", 1);
    job.with("makesTable", 0).with("marksSuccess", 1);
    String given = "LONG".equals(id) ? "x".repeat(300) : id;
    records.write(given == null ? job : job.with("commitId", given));
    records.write(new Record("target").with("directory", ".").with("staging", "./_manifest_job"));
    records.finish();
    if (isRead) {
      try (JobPlan plan = read(out.toByteArray(), 1 << 30)) {
        assertThat(plan.commitId).isEqualTo(Optional.ofNullable(id));
        assertThat(plan.notesPointOfNoReturn()).isEqualTo(id != null || version == 8);
        assertThat(plan.isHeld()).isEqualTo(version == 8);
      }
    } else {
      assertThatThrownBy(() -> read(out.toByteArray(), 1 << 30))
          .isInstanceOf(CorruptManifestException.class);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "8, ./p=1, ''",
    "8, ., ''",
    "8, ./_manifest_job/00, is in a staging directory",
    "8, /elsewhere, ",
    "7, ./p=1, of a held job"
  })
  void aPlaceOfAHeldJobIsInItsTable(long version, String path, String refusal) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RecordFile.Writer records = new RecordFile.Writer(out);
    records.write(
        new Record("job")
            .with("version", version)
            .with("jobId", "job")
            .with("tasks", 1)
            .with("makesTable", 0)
            .with("marksSuccess", 1)
            .with("commitId", "run"));
    records.write(new Record("target").with("directory", ".").with("staging", "./_manifest_job"));
    records.write(new Record("only").with("path", path));
    records.finish();
    if ("".equals(refusal)) {
      try (JobPlan plan = read(out.toByteArray(), 1 << 30)) {
        assertThat(plan.heldOver()).hasSize(1);
      }
    } else {
      assertThatThrownBy(() -> read(out.toByteArray(), 1 << 30))
          .isInstanceOf(CorruptManifestException.class)
          .hasMessageContaining(refusal == null ? "" : refusal);
    }
  }

  private static byte[] plan(String kind) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RecordFile.Writer records = new RecordFile.Writer(out);
    records.write(
        new Record("job")
            .with("version", PlanRecords.VERSION)
            .with("jobId", "job")
            .with("tasks", 1)
            .with("makesTable", 0)
            .with("marksSuccess", 1));
    records.write(new Record("target").with("directory", ".").with("staging", "./_manifest_job"));
    if (kind.equals("oldFile")) {
      records.write(new Record("old").with("path", "."));
    }
    for (int i = 0; i < MANY; i++) {
      String place = "x".repeat(1500) + i;
      Record record = new Record(kind).with("size", 1).with("modified", 1).with("written", 1);
      switch (kind) {
        case "swap" -> {
          record.with("place", "./" + place);
          record.with("staged", "./_manifest_job/00/sealed/" + place);
        }
        case "file" -> {
          records.write(
              new Record("directory")
                  .with("source", "./_manifest_job/00/sealed/" + place)
                  .with("destination", "./" + place));
          record.with("name", "f");
        }
        case "upload" -> {
          records.write(new Record("directory").with("destination", "./" + place));
          records.write(
              new Record("file")
                  .with("name", "f")
                  .with("size", 1)
                  .with("modified", 0)
                  .with("etag", UPLOADED));
          continue;
        }
        case "oldFile" -> record.with("name", place);
        default -> record.with("path", "./" + place);
      }
      records.write(record);
    }
    records.finish();
    return out.toByteArray();
  }

  private static JobPlan read(byte[] plan, long heap) throws IOException {
    return PlanReader.read(
        new ByteArrayInputStream(plan),
        "job",
        new Target(TABLE, STAGING),
        path -> path,
        root -> 0,
        "j-0",
        heap);
  }
}
