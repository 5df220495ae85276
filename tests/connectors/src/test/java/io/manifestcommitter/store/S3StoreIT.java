// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.connectors.EmulatedStore;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.S3Emulator;
import io.manifestcommitter.manifest.FileEntry;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Uploads and their completion through hadoop-aws. */
class S3StoreIT {
  private static final int PART = 5 << 20;

  @TempDir File directory;

  private final S3Emulator emulator = EmulatedStore.s3();
  private final Configuration conf = EmulatedStore.S3A.conf();
  private final Path table = EmulatedStore.S3A.newRoot("uploads");
  private final Path place = new Path(table, "p=a%2Fb c+d/é&<\">.txt");
  private Store store;

  @BeforeEach
  void open() {
    conf.setInt("fs.s3a.multipart.size", PART);
    // Of its own, since settings are read when a filesystem is opened.
    conf.setBoolean("fs.s3a.impl.disable.cache", true);
    store = new Stores(conf).all();
  }

  @AfterEach
  void repair() {
    emulator.faults().clear();
  }

  @Test
  void whatIsUploadedIsSeenWhenItIsCompletedByAnother() throws IOException {
    FileEntry file = upload(bytes("content"));
    assertThat(store.status(place)).isEmpty();
    assertThat(waiting()).isEqualTo(1);

    Store another = new Stores(EmulatedStore.S3A.conf()).all();
    assertThat(another.publish(file).outcome()).isEqualTo(RenameResult.Outcome.RENAMED);

    StoreEntry there = store.status(place).orElseThrow();
    assertThat(there.isSameFileAs(file)).isTrue();
    assertThat(there.etag()).matches("[0-9a-f]{32}-1");
    assertThat(waiting()).isZero();
  }

  @Test
  void anEmptyFileIsUploadedToo() throws IOException {
    store.publish(upload(new byte[0])).orThrow("Could not complete");
    assertThat(store.status(place).orElseThrow().length()).isZero();
  }

  @Test
  void aFileOfSeveralPartsComesOutWhole() throws IOException {
    byte[] content = new byte[2 * PART + 1];
    new Random(1).nextBytes(content);
    FileEntry file = upload(content);

    store.publish(file).orThrow("Could not complete");

    StoreEntry there = store.status(place).orElseThrow();
    assertThat(there.etag()).endsWith("-3");
    assertThat(there.isSameFileAs(file)).isTrue();
    assertThat(read()).isEqualTo(content);
  }

  @Test
  void aFileIsUploadedWhileItIsWritten() throws IOException {
    byte[] content = new byte[2 * PART + 1];
    new Random(2).nextBytes(content);
    File local = new File(directory, "local");
    FileUpload upload = store.newUpload(local, place);
    try (OutputStream out = Files.newOutputStream(local.toPath())) {
      out.write(content, 0, PART + 1);
      upload.follow();
      assertThat(waiting()).isEqualTo(1);
      out.write(content, PART + 1, PART);
    }

    store.publish(finished(upload)).orThrow("Could not complete");

    assertThat(store.status(place).orElseThrow().etag()).endsWith("-3");
    assertThat(read()).isEqualTo(content);
  }

  @Test
  void checksumsOfPartsAreHandedOn() throws IOException {
    conf.set("fs.s3a.create.checksum.algorithm", "CRC32C");
    store = new Stores(conf).all();
    FileEntry file = upload(bytes("content"));
    assertThat(store.publish(file).outcome()).isEqualTo(RenameResult.Outcome.RENAMED);
  }

  @Test
  void aCompletionWhoseAnswerIsLostIsProven() throws IOException {
    FileEntry file = upload(bytes("content"));
    emulator.faults().add(FaultRule.on("complete").applyThenFail(404));

    assertThat(store.publish(file).outcome()).isEqualTo(RenameResult.Outcome.RECOVERED);
  }

  @Test
  void aRepeatedCompletionChangesNothing() throws IOException {
    FileEntry file = upload(bytes("content"));
    store.publish(file).orThrow("Could not complete");
    FileEntry later = upload(bytes("CONTENT"));
    store.publish(later).orThrow("Could not complete");

    store.publish(file);

    assertThat(store.status(place).orElseThrow().isSameFileAs(later)).isTrue();
  }

  @Test
  void whatWasGivenUpIsNeverCompleted() throws IOException {
    FileEntry file = upload(bytes("content"));
    store.abortUpload(file);
    store.abortUpload(file);
    assertThat(waiting()).isZero();

    RenameResult result = store.publish(file);

    assertThat(result.outcome()).isEqualTo(RenameResult.Outcome.FAILED);
    assertThat(result.explanation()).contains("somebody aborted it", "lifecycle rule");
    assertThat(store.status(place)).isEmpty();
  }

  @Test
  void aFailedUploadLeavesNothing() {
    emulator.faults().add(FaultRule.on("part").always().refuse(403));
    assertThatThrownBy(() -> upload(new byte[1])).isInstanceOf(IOException.class);
    assertThat(waiting()).isZero();
  }

  private byte[] read() throws IOException {
    try (FileSystem fs = FileSystem.newInstance(table.toUri(), conf);
        InputStream in = fs.open(place)) {
      return in.readAllBytes();
    }
  }

  private long waiting() {
    String prefix = table.toUri().getPath().substring(1) + "/";
    return emulator.uploads().stream().filter(key -> key.startsWith(prefix)).count();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private FileEntry upload(byte[] content) throws IOException {
    File local = new File(directory, "local");
    Files.write(local.toPath(), content);
    return finished(store.newUpload(local, place));
  }

  private FileEntry finished(FileUpload upload) throws IOException {
    StoreEntry uploaded = upload.finish();
    return FileEntry.uploaded(place.getParent(), place.getName(), uploaded.identity());
  }
}
