// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.connectors.EmulatedStore;
import io.manifestcommitter.emulator.S3Emulator;
import io.manifestcommitter.manifest.FileEntry;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What hadoop-aws uploads of files on its magic paths. */
class MagicUploadsIT {
  private static final int PART = 5 << 20;
  private static final String ATTEMPT = "manifest-committer-j-7";

  private final S3Emulator emulator = EmulatedStore.s3();
  private final Configuration conf = EmulatedStore.S3A.conf();
  private final Path table = EmulatedStore.S3A.newRoot("magic");
  private final Path place = new Path(table, "p=a%2Fb c+d/é&<\">.txt");

  @Test
  void aFileOfSeveralPartsIsCompletedByAnotherProcess() throws IOException {
    conf.setInt("fs.s3a.multipart.size", PART);
    byte[] content = new byte[2 * PART + 1];
    new Random(3).nextBytes(content);
    FileEntry written;
    try (FileSystem fs = open()) {
      FileUpload upload = upload(fs);
      assertThat(upload.isWritten()).isFalse();
      write(fs, upload, content);
      assertThat(upload.isWritten()).isTrue();
      written = entry(upload.finish());
      assertThat(upload(fs).isWritten()).as("S3A forgets it").isFalse();
    }
    assertThat(written.destination()).isEqualTo(place);
    assertThat(written.size()).isEqualTo(content.length);
    Store another = new Stores(EmulatedStore.S3A.conf()).all();
    assertThat(another.status(place)).isEmpty();
    assertThat(keys()).as("nothing is seen").isEmpty();

    RenameResult completed = another.publish(written);

    assertThat(completed.outcome()).isEqualTo(RenameResult.Outcome.RENAMED);
    assertThat(another.status(place).orElseThrow().isSameFileAs(written)).isTrue();
    try (FileSystem fs = open();
        InputStream in = fs.open(place)) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
  }

  @Test
  void checksumsOfPartsAreHandedOn() throws IOException {
    conf.set("fs.s3a.create.checksum.algorithm", "CRC32C");
    FileEntry written;
    try (FileSystem fs = open()) {
      FileUpload upload = upload(fs);
      write(fs, upload, new byte[1]);
      written = entry(upload.finish());
    }
    Store another = new Stores(conf).all();
    another.publish(written).orThrow("Could not complete");
  }

  @Test
  void ofWhatWasWrittenTwiceTheLastCounts() throws IOException {
    try (FileSystem fs = open()) {
      FileUpload upload = upload(fs);
      write(fs, upload, new byte[1]);
      write(fs, upload, new byte[2]);
      assertThat(upload.finish().length()).isEqualTo(2);
      assertThat(emulator.uploads()).filteredOn(key -> key.startsWith(prefix())).hasSize(1);
      upload.abort();
    }
    assertThat(emulator.uploads()).noneMatch(key -> key.startsWith(prefix()));
  }

  @ParameterizedTest
  @CsvSource({
    "fs.s3a.committer.magic.enabled, false, Set fs.s3a.committer.magic.enabled to true",
    "fs.s3a.committer.magic.track.commits.in.memory.enabled, false, before the session starts"
  })
  void whatTheyNeedIsSaid(String key, String value, String said) throws IOException {
    conf.set(MagicUploads.IN_MEMORY, "true");
    conf.set(key, value);
    try (FileSystem fs = FileSystem.newInstance(table.toUri(), conf)) {
      assertThatThrownBy(() -> MagicUploads.of(fs, new Stores(conf).all().of(table), table))
          .isInstanceOf(UnsupportedStoreException.class)
          .hasMessageContaining(said);
    }
  }

  private FileSystem open() throws IOException {
    conf.set(MagicUploads.IN_MEMORY, "true");
    return FileSystem.newInstance(table.toUri(), conf);
  }

  private FileUpload upload(FileSystem fs) throws IOException {
    return MagicUploads.of(fs, new Stores(conf).all().of(place), place)
        .newUpload(place, "j", ATTEMPT);
  }

  private static void write(FileSystem fs, FileUpload upload, byte[] content) throws IOException {
    try (OutputStream out = fs.create(upload.path())) {
      out.write(content);
    }
  }

  private List<String> keys() throws IOException {
    try (FileSystem fs = open()) {
      return List.of(fs.listStatus(table.getParent())).stream()
          .map(status -> status.getPath().toString())
          .filter(path -> path.startsWith(table.toString()))
          .toList();
    }
  }

  private String prefix() {
    return table.toUri().getPath().substring(1) + "/";
  }

  private static FileEntry entry(StoreEntry written) {
    return FileEntry.uploaded(written.path().getParent(), written.name(), written.identity());
  }
}
