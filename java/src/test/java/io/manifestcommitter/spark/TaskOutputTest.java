// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.StagedFile.TABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileIdentity.Upload;
import io.manifestcommitter.manifest.Rows;
import io.manifestcommitter.spark.StagedFile.Form;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import java.util.zip.Deflater;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

class TaskOutputTest {
  private static final String ORIGIN = "The commit message 3 of 17 of job j";

  @Property(tries = 500)
  void whatIsWrittenIsReadBack(
      @ForAll("files") SortedSet<StagedFile> files,
      @ForAll("text") String jobId,
      @ForAll @IntRange int task)
      throws Exception {
    TaskOutput read = TaskOutput.parse(TaskOutput.message(jobId, task, files), ORIGIN);

    assertThat(read.jobId).isEqualTo(jobId);
    assertThat(read.task).isEqualTo(task);
    assertThat(all(read)).containsExactlyElementsOf(files);
  }

  @Property(tries = 200)
  void namesThatShareTheirStartAreReadBack(
      @ForAll("text") String start, @ForAll("texts") List<String> ends) throws Exception {
    SortedSet<StagedFile> files = new TreeSet<>();
    ends.forEach(end -> files.add(new StagedFile(TABLE, "", start + end)));

    assertThat(all(TaskOutput.parse(message(files), ORIGIN))).containsExactlyElementsOf(files);
  }

  @Property(tries = 300)
  void whatWasUploadedIsReadBack(
      @ForAll("files") SortedSet<StagedFile> files,
      @ForAll("text") String id,
      @ForAll @LongRange(min = 0, max = 1L << 50) long length)
      throws Exception {
    Upload upload = new Upload("id" + id, List.of("%22etag%22:CRC32C:a%2Bb%2Fc%3D"));
    SortedSet<StagedFile> staged = new TreeSet<>();
    for (StagedFile file : files) {
      boolean isUploaded = staged.size() % 3 != 1;
      staged.add(isUploaded ? file.as(Form.TO_COMPLETE, length, upload.toEtag("9a0e-1")) : file);
    }

    assertThat(all(TaskOutput.parse(message(staged), ORIGIN)))
        .usingRecursiveComparison()
        .isEqualTo(new ArrayList<>(staged));
  }

  @Property(tries = 300)
  void filesOfEachFormAreReadBack(
      @ForAll("files") SortedSet<StagedFile> files,
      @ForAll @LongRange(min = 0, max = 1L << 50) long length)
      throws Exception {
    String upload = new Upload("id", List.of("part")).toEtag("9a0e-1");
    SortedSet<StagedFile> staged = new TreeSet<>();
    for (StagedFile file : files) {
      boolean isLinked = staged.size() % 3 == 1 && file.location.equals(TABLE);
      StagedFile sent = staged.size() % 3 == 2 ? file.as(Form.TO_COMPLETE, length, upload) : file;
      staged.add(
          isLinked ? file.as(Form.TO_MERGE, length, "9a0e364b9e99bb480dd25e1f0284c855") : sent);
    }

    assertThat(all(TaskOutput.parse(message(staged), ORIGIN)))
        .usingRecursiveComparison()
        .isEqualTo(new ArrayList<>(staged));
  }

  @Example
  void whatIsNotLinkedIsRefused() {
    StagedFile file = new StagedFile(TABLE, "", "f");
    for (String checksum : List.of("", "9a0e-1#upload=x#a")) {
      assertThatThrownBy(() -> file.as(Form.TO_MERGE, 1, checksum))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> file.as(Form.TO_MERGE, -1, "9a0e"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new StagedFile("s3a://b/x", "", "f").as(Form.TO_MERGE, 1, "9a0e"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("s3a://b/x/f");
  }

  @Example
  void aFormThatIsNoneIsRefused() {
    for (String form : List.of("", "TO_BURY")) {
      byte[] body = oneFile("", "p=1", "f", form);
      assertIsCorrupt(packed(body, body.length));
    }
  }

  /** Ids as long as those of AWS are, at random: they do not compress. */
  @Example
  void aFileThatWasUploadedTakesFewBytes() {
    Random random = new Random(1);
    SortedSet<StagedFile> staged = new TreeSet<>();
    int files = 1000;
    for (int i = 0; i < files; i++) {
      String etag = text(random, "0123456789abcdef", 32);
      String id =
          text(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._0123456789", 128);
      String part = text(random, "0123456789abcdef", 32);
      Upload upload = new Upload(id, List.of("%22" + part + "%22"));
      String name = "part-00000-8910c647-4c4d-4617-a8d7-d00e6c63dce0.c000.snappy.parquet";
      staged.add(
          new StagedFile(TABLE, "p=" + i, name)
              .as(Form.TO_COMPLETE, i * 1000L, upload.toEtag(etag + "-1")));
    }

    assertThat(message(staged).length / files).isBetween(100, 180);
  }

  private static String text(Random random, String letters, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append(letters.charAt(random.nextInt(letters.length())));
    }
    return text.toString();
  }

  @Example
  void anUploadThatIsNoneIsRefused() {
    StagedFile file = new StagedFile(TABLE, "", "f");
    for (String etag : List.of("9a0e-1", "9a0e-1#upload=x", "9a0e-1#upload=#e", "#upload=x#a:b")) {
      assertThatThrownBy(() -> file.as(Form.TO_COMPLETE, 1, etag))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Example
  void namesThatDifferInHalfOfASurrogatePairAreReadBack() throws Exception {
    SortedSet<StagedFile> files =
        files("", "x\uD83D\uDE00", "x\uD83D\uDE01", "x\uD83D\uDE01\uD83D\uDE00");

    assertThat(all(TaskOutput.parse(message(files), ORIGIN))).containsExactlyElementsOf(files);
  }

  @Example
  void aTaskWithoutFilesIsReadBack() throws Exception {
    assertThat(TaskOutput.parse(message(files("")), ORIGIN).hasMore()).isFalse();
  }

  @Property(tries = 1_000)
  void aBodyOfNonsenseIsRefusedThoughItsChecksumMatches(@ForAll byte[] body) {
    Throwable thrown =
        catchThrowable(() -> all(TaskOutput.parse(packed(body, body.length), ORIGIN)));
    if (thrown != null) {
      assertThat(thrown).isInstanceOf(CorruptManifestException.class).hasMessageContaining(ORIGIN);
    }
  }

  @Example
  void halfASurrogatePairIsRefused() {
    for (SortedSet<StagedFile> bad : List.of(files("", "x\uD83D"), files("p=\uDE00", "x"))) {
      assertThatThrownBy(() -> message(bad)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Property(tries = 60)
  void everyTruncationIsNoticed(@ForAll("files") SortedSet<StagedFile> files) {
    byte[] message = message(files);
    int step = Math.max(1, message.length / 2_000);
    for (int length = 0; length < message.length; length += length < 64 ? 1 : step) {
      assertIsCorrupt(Arrays.copyOf(message, length));
    }
  }

  @Property(tries = 100)
  void whatIsAppendedIsNoticed(@ForAll("files") SortedSet<StagedFile> files, @ForAll byte[] more) {
    if (more.length == 0) {
      return;
    }
    byte[] message = message(files);
    byte[] longer = Arrays.copyOf(message, message.length + more.length);
    System.arraycopy(more, 0, longer, message.length, more.length);

    assertIsCorrupt(longer);
  }

  @Property(tries = 40)
  void everyFlippedBitIsNoticed(@ForAll("files") SortedSet<StagedFile> files) {
    byte[] message = message(files);
    int step = Math.max(1, message.length / 500);
    for (int i = 0; i < message.length; i += i < 64 ? 1 : step) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] damaged = message.clone();
        damaged[i] ^= (byte) (1 << bit);
        assertIsCorrupt(damaged);
      }
    }
  }

  @Property(tries = 1_000)
  void manyFlippedBytesAreNoticed(
      @ForAll("files") SortedSet<StagedFile> files, @ForAll Random random) {
    byte[] message = message(files);
    byte[] damaged = message.clone();
    for (int i = 0; i <= random.nextInt(20); i++) {
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
    }
    if (!Arrays.equals(damaged, message)) {
      assertIsCorrupt(damaged);
    }
  }

  @Property(tries = 1_000)
  void bytesOfSomebodyElseAreRefused(@ForAll byte[] message) {
    assertIsCorrupt(message);
  }

  @Example
  void theMessageOfAnotherVersionIsRefusedWithWhatToDo() {
    byte[] message = message(files(""));
    message[2] = 3;

    assertThatThrownBy(() -> TaskOutput.parse(message, ORIGIN))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContainingAll(ORIGIN, "version of the committer");
  }

  @Example
  void aWrongLengthIsRefusedThoughItsChecksumMatches() {
    byte[] body = oneFile("", "p=1", "f");

    assertIsCorrupt(packed(body, body.length - 1));
    assertIsCorrupt(packed(body, body.length + 1));
    assertIsCorrupt(packed(body, -1));
    assertIsCorrupt(packed(body, Integer.MAX_VALUE));
    assertThat(catchThrowable(() -> all(TaskOutput.parse(packed(body, body.length), ORIGIN))))
        .isNull();
  }

  @Example
  void namesThatLeadElsewhereAreRefused() {
    for (String name : List.of("", ".", "..", "a/b", "../f", "/f")) {
      byte[] body = oneFile("", "p=1", name);
      assertIsCorrupt(packed(body, body.length));
      assertThatThrownBy(() -> new StagedFile("", "", name))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'" + name + "'");
    }
    for (String directory : List.of(".", "..", "../x", "a/../../x", "/x", "a//b", "a/")) {
      byte[] body = oneFile("", directory, "f");
      assertIsCorrupt(packed(body, body.length));
      assertThatThrownBy(() -> new StagedFile("", directory, "f"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'" + directory + "'");
    }
  }

  @Example
  void aTaskWithoutAnIdIsRefused() {
    assertThatThrownBy(() -> TaskOutput.message("", 0, files("")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> TaskOutput.message("j", -1, files("")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1");
  }

  /** The promise: a task of 1,000 files in 100 partitions stays under 32 KiB. */
  @Example
  void aTaskOfAThousandFilesInAHundredPartitionsIsSmall() throws Exception {
    String uuid = "3b2f6c1e-8d0a-4f57-9c44-61d7a0e5b9f2";
    SortedSet<StagedFile> files = new TreeSet<>();
    for (int partition = 0; partition < 100; partition++) {
      String directory = "year=" + (2018 + partition / 12) + "/month=" + (1 + partition % 12);
      for (int file = 0; file < 10; file++) {
        String name =
            String.format(Locale.ROOT, "part-00000-%s-12.c%03d.snappy.parquet", uuid, file);
        files.add(new StagedFile(TABLE, directory, name));
      }
    }
    byte[] message = message(files);

    assertThat(all(TaskOutput.parse(message, ORIGIN))).containsExactlyElementsOf(files);
    assertThat(message.length).isLessThan(32 * 1024);
  }

  @Provide
  Arbitrary<SortedSet<StagedFile>> files() {
    Arbitrary<String> locations =
        Arbitraries.oneOf(Arbitraries.just(TABLE), text().map(text -> "abfs://c@a/" + text));
    Arbitrary<String> directories =
        Arbitraries.oneOf(
            Arbitraries.just(""),
            text().map(value -> "p=" + value),
            Combinators.combine(text(), text()).as((a, b) -> "p=" + a + "/q=" + b));
    return Combinators.combine(locations, directories, text())
        .as(StagedFile::new)
        .list()
        .ofMaxSize(30)
        .map(TreeSet::new);
  }

  @Provide
  Arbitrary<List<String>> texts() {
    return text().list().ofMinSize(1).ofMaxSize(40);
  }

  /** One component of a path: any text that is valid Unicode, from a letter to a long one. */
  @Provide
  Arbitrary<String> text() {
    Arbitrary<Integer> any =
        Arbitraries.integers()
            .between(0, Character.MAX_CODE_POINT)
            .filter(c -> c != '/' && (c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE));
    Arbitrary<Integer> hostile =
        " %:#?=.\\\"'*\0\n+&é😀😁日\uFFFD\uFFFF"
            .codePoints()
            .boxed()
            .collect(Collectors.collectingAndThen(Collectors.toList(), Arbitraries::of));
    Arbitrary<Integer> codePoints = Arbitraries.oneOf(any, hostile, Arbitraries.of(97, 98));
    return Arbitraries.frequencyOf(
            Tuple.of(9, codePoints.list().ofMinSize(1).ofMaxSize(12)),
            Tuple.of(1, codePoints.list().ofMinSize(100).ofMaxSize(400)))
        .map(TaskOutputTest::fromCodePoints)
        .filter(text -> !text.equals(".") && !text.equals(".."));
  }

  private static String fromCodePoints(List<Integer> codePoints) {
    StringBuilder text = new StringBuilder();
    codePoints.forEach(text::appendCodePoint);
    return text.toString();
  }

  private static SortedSet<StagedFile> files(String directory, String... names) {
    SortedSet<StagedFile> files = new TreeSet<>();
    for (String name : names) {
      files.add(new StagedFile(TABLE, directory, name));
    }
    return files;
  }

  private static byte[] message(SortedSet<StagedFile> files) {
    return TaskOutput.message("j", 1, files);
  }

  private static List<StagedFile> all(TaskOutput output) throws CorruptManifestException {
    List<StagedFile> files = new ArrayList<>();
    while (output.hasMore()) {
      files.add(output.next());
    }
    return files;
  }

  private static void assertIsCorrupt(byte[] message) {
    assertThatThrownBy(() -> all(TaskOutput.parse(message, ORIGIN)))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContaining(ORIGIN);
  }

  /** The body of a message that names one file. */
  static byte[] oneFile(String location, String directory, String name) {
    return oneFile(location, directory, name, "TO_RENAME");
  }

  private static byte[] oneFile(String location, String directory, String name, String form) {
    return new Rows.Writer(5, 64)
        .plain("j")
        .number(0)
        .text(0, location)
        .text(1, directory)
        .text(2, name)
        .text(3, form)
        .take();
  }

  /** A message around {@code body} that only a look at the body itself can refuse. */
  static byte[] packed(byte[] body, int claimedLength) {
    Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
    byte[] deflated = new byte[body.length + 1000];
    deflater.setInput(body);
    deflater.finish();
    int length = deflater.deflate(deflated);
    deflater.end();
    ByteBuffer checked = ByteBuffer.allocate(4 + length);
    checked.putInt(claimedLength).put(deflated, 0, length);
    CRC32C checksum = new CRC32C();
    checksum.update(checked.array());
    return ByteBuffer.allocate(7 + checked.capacity())
        .put(new byte[] {'M', 'C', 4})
        .putInt((int) checksum.getValue())
        .put(checked.array())
        .array();
  }
}
