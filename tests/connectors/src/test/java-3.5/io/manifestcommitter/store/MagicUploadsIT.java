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
import java.util.stream.Collectors;
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
    List<MagicUploads.Written> written;
    try (FileSystem fs = open()) {
      write(fs, place, content);
      written = MagicUploads.of(fs, place).take(ATTEMPT, path -> path);
      assertThat(MagicUploads.of(fs, place).take(ATTEMPT, path -> path)).isEmpty();
    }
    assertThat(written).hasSize(1);
    assertThat(written.get(0).destination()).isEqualTo(place);
    assertThat(written.get(0).length()).isEqualTo(content.length);
    Store another = new Stores(EmulatedStore.S3A.conf()).all();
    assertThat(another.status(place)).isEmpty();
    assertThat(keys()).as("nothing is seen").isEmpty();

    RenameResult completed = another.renameFile(entry(written.get(0)));

    assertThat(completed.outcome()).isEqualTo(RenameResult.Outcome.RENAMED);
    assertThat(another.status(place).orElseThrow().isSameFileAs(entry(written.get(0)))).isTrue();
    try (FileSystem fs = open();
        InputStream in = fs.open(place)) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
  }

  @Test
  void checksumsOfPartsAreHandedOn() throws IOException {
    conf.set("fs.s3a.create.checksum.algorithm", "CRC32C");
    List<MagicUploads.Written> written;
    try (FileSystem fs = open()) {
      write(fs, place, new byte[1]);
      written = MagicUploads.of(fs, place).take(ATTEMPT, path -> path);
    }
    Store another = new Stores(conf).all();
    another.renameFile(entry(written.get(0))).orThrow("Could not complete");
  }

  @Test
  void whatWasWrittenTwiceComesTwiceInItsOrder() throws IOException {
    List<MagicUploads.Written> written;
    try (FileSystem fs = open()) {
      write(fs, place, new byte[1]);
      write(fs, place, new byte[2]);
      written = MagicUploads.of(fs, place).take(ATTEMPT, path -> path);
    }
    assertThat(written).extracting(MagicUploads.Written::length).containsExactly(1L, 2L);
    Store store = new Stores(conf).all();
    for (MagicUploads.Written one : written) {
      store.abortUpload(entry(one));
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
      assertThatThrownBy(() -> MagicUploads.of(fs, table))
          .isInstanceOf(UnsupportedStoreException.class)
          .hasMessageContaining(said);
    }
  }

  private FileSystem open() throws IOException {
    conf.set(MagicUploads.IN_MEMORY, "true");
    return FileSystem.newInstance(table.toUri(), conf);
  }

  private static void write(FileSystem fs, Path place, byte[] content) throws IOException {
    try (OutputStream out = fs.create(MagicUploads.path(place, "j", ATTEMPT))) {
      out.write(content);
    }
  }

  private List<String> keys() throws IOException {
    try (FileSystem fs = open()) {
      return List.of(fs.listStatus(table.getParent())).stream()
          .map(status -> status.getPath().toString())
          .filter(path -> path.startsWith(table.toString()))
          .collect(Collectors.toList());
    }
  }

  private String prefix() {
    return table.toUri().getPath().substring(1) + "/";
  }

  private static FileEntry entry(MagicUploads.Written written) {
    Path destination = written.destination();
    String etag = written.upload().toEtag("");
    return new FileEntry(destination, destination, written.length(), etag, 0);
  }
}
