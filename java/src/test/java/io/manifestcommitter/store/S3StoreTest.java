// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.FileIdentity.Upload;
import io.manifestcommitter.testing.Fate;
import io.manifestcommitter.testing.Fault;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class S3StoreTest {
  private static final Path PLACE = new Path("s3a://s3-store/table/p=1%2F2/file");

  /** The least that S3 takes, in bytes. */
  private static final int PART = 5 << 20;

  @TempDir File directory;

  private final MemoryStoreState state = MemoryFileSystem.state("s3-store");
  private final Configuration conf = MemoryFileSystem.configuration();
  private Store store = new Stores(conf).all();

  @BeforeEach
  void clear() {
    state.clear();
  }

  @Test
  void whatIsUploadedIsSeenWhenItIsCompleted() throws IOException {
    FileEntry file = upload("content");
    assertThat(store.status(PLACE)).isEmpty();

    assertThat(store.publish(file).outcome()).isEqualTo(RenameResult.Outcome.RENAMED);

    StoreEntry there = store.status(PLACE).orElseThrow();
    assertThat(there.isSameFileAs(file)).isTrue();
    assertThat(there.etag()).matches("[0-9a-f]{32}-1");
    assertThat(state.files()).containsEntry("/table/p=1%2F2/file", "content");
  }

  @Test
  void anEmptyFileIsUploadedToo() throws IOException {
    store.publish(upload("")).orThrow("Could not complete");
    assertThat(store.status(PLACE).orElseThrow().length()).isZero();
  }

  @Test
  void aFileOfSeveralPartsHasAPartForEachPiece() throws IOException {
    conf.setLong("fs.s3a.multipart.size", 1);
    store = new Stores(conf).all();
    FileEntry file = upload("x".repeat((10 << 20) + 1));
    assertThat(state.requestsByOperation()).containsEntry("part", 3);

    store.publish(file).orThrow("Could not complete");

    StoreEntry there = store.status(PLACE).orElseThrow();
    assertThat(there.length()).isEqualTo((10 << 20) + 1);
    assertThat(there.etag()).endsWith("-3");
    assertThat(there.isSameFileAs(file)).isTrue();
  }

  @Test
  void fullPartsGoWhileAFileIsWrittenAndTheRestWhenItIsClosed() throws IOException {
    FileUpload upload = growing();
    grow(PART);
    upload.follow();
    assertThat(state.uploads()).as("what may be the last part waits").isEmpty();
    grow(2 * PART);
    upload.follow();
    upload.follow();
    assertThat(state.requestsByOperation()).containsEntry("part", 2);
    assertThat(state.files()).isEmpty();

    grow(1);
    FileEntry file = finished(upload);
    assertThat(state.requestsByOperation()).containsEntry("initiate", 1).containsEntry("part", 4);

    assertThat(store.publish(file).outcome()).isEqualTo(RenameResult.Outcome.RENAMED);
    assertThat(state.requestsByOperation()).containsEntry("complete", 1);
    assertThat(state.files()).containsEntry("/table/p=1%2F2/file", Files.readString(local()));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, PART, 2 * PART - 1})
  void whatItsWriterChangedIsUploadedAgain(int at) throws IOException {
    FileUpload upload = growing();
    grow(2 * PART + 1);
    upload.follow();
    try (RandomAccessFile out = new RandomAccessFile(local().toFile(), "rw")) {
      out.seek(at);
      out.write('!');
    }

    store.publish(finished(upload)).orThrow("Could not complete");

    assertThat(state.files()).containsEntry("/table/p=1%2F2/file", Files.readString(local()));
    assertThat(state.uploads()).isEmpty();
  }

  @Test
  void aFileThatWasBegunAgainIsUploadedAgain() throws IOException {
    FileUpload upload = growing();
    grow(2 * PART);
    upload.follow();
    Files.writeString(local(), "short");

    store.publish(finished(upload)).orThrow("Could not complete");

    assertThat(state.files()).containsEntry("/table/p=1%2F2/file", "short");
    assertThat(state.uploads()).isEmpty();
  }

  @Test
  void aPartThatFailsWhileTheFileIsWrittenIsUploadedInTheEnd() throws IOException {
    FileUpload upload = growing();
    grow(2 * PART + 1);
    int[] parts = {0};
    state.onRequest(
        (number, operation, path) ->
            operation.equals("part") && ++parts[0] == 2 ? Fate.FAILS_AFTER : Fate.NORMAL);
    assertThatThrownBy(upload::follow).isInstanceOf(IOException.class);

    store.publish(finished(upload)).orThrow("Could not complete");

    assertThat(parts[0]).isEqualTo(4);
    assertThat(state.files()).containsEntry("/table/p=1%2F2/file", Files.readString(local()));
  }

  @Test
  void whatIsGivenUpWhileItIsWrittenLeavesNothing() throws IOException {
    FileUpload upload = growing();
    grow(2 * PART);
    upload.follow();
    assertThat(state.uploads()).hasSize(1);

    upload.abort();
    upload.abort();

    assertThat(state.uploads()).isEmpty();
    assertThat(state.requestsByOperation()).containsEntry("abort", 1);
  }

  @Test
  void aCompletionWhoseAnswerIsLostIsProven() throws IOException {
    FileEntry file = upload("content");
    state.onRequest(Fault.on("complete", Fate.FAILS_AFTER, path -> true));

    assertThat(store.publish(file).outcome()).isEqualTo(RenameResult.Outcome.RECOVERED);
  }

  @Test
  void aRepeatedCompletionIsNotBelievedForWhatSomebodyElseWroteSince() throws IOException {
    state.rememberCompletions();
    FileEntry file = upload("content");
    int[] tries = {0};
    state.onRequest(
        (number, operation, path) -> {
          if (!operation.equals("complete")) {
            return Fate.NORMAL;
          }
          if (++tries[0] == 2) {
            state.write("/table/p=1%2F2/file", "CONTENT");
          }
          return tries[0] == 1 ? Fate.FAILS_AFTER : Fate.NORMAL;
        });

    assertThat(store.publish(file).isDone()).isFalse();
    assertThat(tries[0]).isEqualTo(2);
  }

  @Test
  void aFileWithAnotherEtagThanItsPartsPredictIsNotTheOne() throws IOException {
    FileEntry file = upload("content");
    String other = Upload.in(file.etag()).orElseThrow().toEtag("0".repeat(32) + "-1");

    FileEntry expected =
        FileEntry.uploaded(
            PLACE.getParent(), PLACE.getName(), new FileIdentity(file.size(), other, 0));

    assertThat(store.publish(expected).isDone()).isFalse();
  }

  @Test
  void aCompletionThatFailsIsTriedAgain() throws IOException {
    FileEntry file = upload("content");
    int[] left = {2};
    state.onRequest(
        (number, operation, path) ->
            operation.equals("complete") && left[0]-- > 0 ? Fate.FAILS_BEFORE : Fate.NORMAL);

    assertThat(store.publish(file).isDone()).isTrue();
  }

  @Test
  void whatWasGivenUpIsNeverCompleted() throws IOException {
    FileEntry file = upload("content");
    store.abortUpload(file);
    store.abortUpload(file);

    RenameResult result = store.publish(file);

    assertThat(result.outcome()).isEqualTo(RenameResult.Outcome.FAILED);
    assertThat(result.explanation()).contains("somebody aborted it", "lifecycle rule");
    assertThat(store.status(PLACE)).isEmpty();
  }

  @Test
  void anotherFileInItsPlaceIsNotTakenForIt() throws IOException {
    FileEntry file = upload("content");
    state.abortUpload("/table/p=1%2F2/file");
    state.write("/table/p=1%2F2/file", "CONTENT");

    assertThat(store.publish(file).outcome()).isEqualTo(RenameResult.Outcome.FAILED);
    assertThat(state.files()).containsEntry("/table/p=1%2F2/file", "CONTENT");
  }

  @Test
  void aFailedUploadLeavesNothing() throws IOException {
    state.onRequest(Fault.on("part", Fate.FAILS_BEFORE, path -> true));
    assertThatThrownBy(() -> upload("content")).isInstanceOf(IOException.class);
    assertThat(state.uploads()).isEmpty();
  }

  @Test
  void aWriterThatFailsLeavesNoHalfFile() {
    assertThatThrownBy(
            () ->
                store.write(
                    PLACE,
                    out -> {
                      out.write(1);
                      throw new IOException("on purpose");
                    }))
        .hasMessage("on purpose");
    assertThat(state.files()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "s3-store, fs.s3a.multipart.uploads.enabled, false",
    "s3-store, fs.s3a.bucket.s3-store.multipart.uploads.enabled, false",
    "s3-store, fs.s3a.encryption.algorithm, CSE-KMS",
    "s3-store, fs.s3a.server-side-encryption-algorithm, CSE-CUSTOM",
    "bucket--use1-az4--x-s3, none, none"
  })
  void bucketsWhoseUploadsNobodyElseCanCompleteAreRefused(String bucket, String key, String value) {
    conf.set(key, value);
    Path table = new Path("s3a://" + bucket + "/table");
    assertThatThrownBy(() -> new Stores(conf).requireSafeRename(table))
        .isInstanceOf(UnsupportedStoreException.class)
        .hasMessageContaining(table.toString());
  }

  @Test
  void otherBucketsAreServed() throws IOException {
    conf.set("fs.s3a.encryption.algorithm", "SSE-KMS");
    new Stores(conf).requireSafeRename(PLACE);
  }

  private java.nio.file.Path local() {
    return directory.toPath().resolve("local");
  }

  /** The upload of an empty file. */
  private FileUpload growing() throws IOException {
    conf.setLong("fs.s3a.multipart.size", PART);
    store = new Stores(conf).all();
    Files.createFile(local());
    return store.newUpload(local().toFile(), PLACE);
  }

  /** Appends bytes to the local file, not the same ones each time. */
  private void grow(int bytes) throws IOException {
    byte[] more = new byte[bytes];
    Arrays.fill(more, (byte) ('a' + Files.size(local()) % 26));
    Files.write(local(), more, StandardOpenOption.APPEND);
  }

  private FileEntry upload(String content) throws IOException {
    Files.writeString(local(), content);
    return finished(store.newUpload(local().toFile(), PLACE));
  }

  private static FileEntry finished(FileUpload upload) throws IOException {
    StoreEntry uploaded = upload.finish();
    return FileEntry.uploaded(PLACE.getParent(), PLACE.getName(), uploaded.identity());
  }
}
