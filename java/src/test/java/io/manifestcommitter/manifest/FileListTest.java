// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileListTest {
  private static final String ORIGIN = "file:/t/_SUCCESS.files";
  private static final Path TABLE = new Path("file:/t");

  @Test
  void aListIsJsonLines() throws IOException {
    List<FileEntry> files =
        List.of(
            file("file:/t/d=1/a b%.parquet", 1, "e1"),
            file("file:/other/c d", 2, null),
            file("file:/tt/x", 3, null));

    assertThat(text(write(files)))
        .isEqualTo(
            "{\"jobId\":\"job\",\"table\":\"file:/t\",\"files\":3}\n"
                + "{\"path\":\"d=1/a b%.parquet\",\"size\":1,\"etag\":\"e1\"}\n"
                + "{\"path\":\"file:/other/c%20d\",\"size\":2}\n"
                + "{\"path\":\"file:/tt/x\",\"size\":3}\n");
  }

  @Test
  void aNameThatLooksLikeAUriIsNotTakenForOne() throws IOException {
    Path odd = new Path("file", null, "/t/gs:/bucket");

    byte[] list = write(List.of(new FileEntry(odd, odd, 1, null, 0)));

    assertThat(text(list)).contains("\"file:/t/gs:/bucket\"");
    assertThat(read(list).get(0).location).isEqualTo(odd);
  }

  @Test
  void aListIsReadBack() throws IOException {
    byte[] json = write(Manifests.files(3));

    try (FileList list = FileList.read(new ByteArrayInputStream(json), ORIGIN)) {
      assertThat(list.jobId).isEqualTo("job");
      assertThat(list.table).isEqualTo(TABLE);
      assertThat(list.count).isEqualTo(3);
      assertThat(list.next().orElseThrow().path).isEqualTo("d=1/f0");
      assertThat(list.next()).isPresent();
      assertThat(list.next()).isPresent();
      assertThat(list.next()).isEmpty();
      assertThat(list.next()).isEmpty();
    }
  }

  @Provide
  Arbitrary<List<FileEntry>> files() {
    return Manifests.files().list().ofMaxSize(5);
  }

  @Property(tries = 200)
  void everyFileIsReadBackEqual(@ForAll("files") List<FileEntry> files) throws IOException {
    assertThat(read(write(files)))
        .zipSatisfy(
            files,
            (read, file) -> {
              assertThat(read.location).isEqualTo(file.destination());
              assertThat(read.size).isEqualTo(file.size());
              assertThat(read.etag).isEqualTo(file.etag());
            });
  }

  @Test
  void theStreamStaysOpen() throws IOException {
    OutputStream out = OutputStream.nullOutputStream();

    FileList.write(out, "job", TABLE, 0, List.of());

    assertThatCode(() -> out.write(0)).as("it throws once closed").doesNotThrowAnyException();
  }

  @Test
  void aWrongNumberOfFilesIsRefused() {
    assertThatThrownBy(
            () -> FileList.write(new ByteArrayOutputStream(), "job", TABLE, 2, Manifests.files(3)))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("job", "has 3");
  }

  @Test
  void truncationIsNoticedAtEveryLength() throws IOException {
    byte[] list = write(Manifests.files(20));

    for (int length = 0; length < list.length; length++) {
      byte[] cut = Arrays.copyOf(list, length);
      assertThatThrownBy(() -> read(cut))
          .isInstanceOf(CorruptManifestException.class)
          .hasMessageStartingWith(ORIGIN);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}\n",
        "{\"jobId\":\"j\",\"table\":\"file:/t\"}\n",
        "{\"jobId\":\"j\",\"table\":\"t\",\"files\":0}\n",
        "{\"jobId\":\"j\",\"table\":\"file:/t\",\"files\":-1}\n",
        "{\"jobId\":\"j\",\"table\":\"file:/t\",\"files\":1}\n",
        "{\"jobId\":\"j\",\"table\":\"file:/t\",\"files\":1}\n{}\n",
        "{\"jobId\":\"j\",\"table\":\"file:/t\",\"files\":1}\n{\"path\":\"a\",\"size\":-1}\n",
        "{\"jobId\":\"j\",\"table\":\"file:/t\",\"files\":1}\n{\"path\":\"../a\",\"size\":1}\n",
        "{\"jobId\":\"j\",\"table\":\"file:/t\",\"files\":1}\n{\"path\":\"\",\"size\":1}\n",
        "{\"jobId\":\"j\",\"table\":\"file:/t\",\"files\":1}\n{\"path\":\"gs:/%zz\",\"size\":1}\n",
        "{\"jobId\":\"j\",\"table\":\"file:/t\",\"files\":0}\n{\"path\":\"a\",\"size\":1}\n",
        "{\"jobId\":\"j\",\"table\":\"file:/t\",\"files\":1}\n\n{\"path\":\"a\",\"size\":1}\n",
        "not json\n"
      })
  void wrongContentIsNoticed(String text) throws IOException {
    byte[] list = gzip(text.getBytes(UTF_8));

    assertThatThrownBy(() -> read(list))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageStartingWith(ORIGIN);
  }

  @Test
  void anEndlessLineAndOtherEncodingsAreNoticed() throws IOException {
    byte[] endless = gzip(new byte[3_000_000]);
    byte[] latin = gzip(new byte[] {'{', '"', (byte) 0xe4, '"', '}', '\n'});

    assertThatThrownBy(() -> read(endless))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContaining("a line has more than");
    assertThatThrownBy(() -> read(latin))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContaining("UTF-8");
  }

  private static FileEntry file(String destination, long size, String etag) {
    return new FileEntry(new Path("file:/staging/f"), new Path(destination), size, etag, 0);
  }

  private static byte[] write(List<FileEntry> files) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    FileList.write(out, "job", TABLE, files.size(), files);
    return out.toByteArray();
  }

  private static List<FileList.Entry> read(byte[] bytes) throws IOException {
    List<FileList.Entry> entries = new ArrayList<>();
    try (FileList list = FileList.read(new ByteArrayInputStream(bytes), ORIGIN)) {
      for (Optional<FileList.Entry> e = list.next(); e.isPresent(); e = list.next()) {
        entries.add(e.get());
      }
    }
    return entries;
  }

  private static String text(byte[] list) throws IOException {
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(list))) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  private static byte[] gzip(byte[] content) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(content);
    }
    return out.toByteArray();
  }
}
