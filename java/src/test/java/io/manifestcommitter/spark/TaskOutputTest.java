// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.Upload;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
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
import net.jqwik.api.constraints.LongRange;

class TaskOutputTest {
  private static final String ORIGIN = "The commit message 3 of 17 of job j";

  @Property(tries = 500)
  void whatIsWrittenIsReadBack(@ForAll("outputs") TaskOutput output) throws Exception {
    TaskOutput read = TaskOutput.parse(output.toBytes(), ORIGIN);

    assertThat(read).isEqualTo(output).hasSameHashCodeAs(output);
    assertThat(read.jobId()).isEqualTo(output.jobId());
    assertThat(read.task()).isEqualTo(output.task());
    assertThat(read.attempt()).isEqualTo(output.attempt());
    assertThat(read.groups()).isEqualTo(output.groups());
    assertThat(read.toBytes()).isEqualTo(output.toBytes());
  }

  @Property(tries = 200)
  void namesThatShareTheirStartAreReadBack(
      @ForAll("text") String start, @ForAll("texts") List<String> ends) throws Exception {
    TaskOutput.Builder builder = TaskOutput.builder("j", 0, 0);
    ends.forEach(end -> builder.add(TaskOutput.TABLE, "", start + end));
    TaskOutput output = builder.build();

    assertThat(TaskOutput.parse(output.toBytes(), ORIGIN)).isEqualTo(output);
  }

  @Property(tries = 300)
  void whatWasUploadedIsReadBack(
      @ForAll("outputs") TaskOutput output,
      @ForAll("text") String id,
      @ForAll @LongRange(min = 0, max = 1L << 50) long length)
      throws Exception {
    TaskOutput.Builder builder = TaskOutput.builder("j", 1, 2);
    UploadedFile file = new UploadedFile(length, upload("id" + id).toEtag("9a0e-1"));
    for (TaskOutput.Group group : output.groups()) {
      group.names().forEach(name -> builder.add(group.location(), group.directory(), name));
      builder.uploaded(group.location(), group.directory(), group.names().get(0), file);
    }
    TaskOutput uploaded = builder.build();

    TaskOutput read = TaskOutput.parse(uploaded.toBytes(), ORIGIN);

    assertThat(read).isEqualTo(uploaded);
    for (TaskOutput.Group group : output.groups()) {
      assertThat(read.upload(group.location(), group.directory(), group.names().get(0)))
          .contains(file);
    }
  }

  private static Upload upload(String id) {
    return new Upload(id, List.of(new Upload.Part("\"etag\"", "CRC32C", "a+b/c=")));
  }

  /** Ids as long as those of AWS are, at random: they do not compress. */
  @Example
  void aFileThatWasUploadedTakesFewBytes() throws Exception {
    Random random = new Random(1);
    TaskOutput.Builder builder = TaskOutput.builder("j", 0, 0);
    int files = 1000;
    for (int i = 0; i < files; i++) {
      String etag = text(random, "0123456789abcdef", 32);
      String id =
          text(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._0123456789", 128);
      String part = text(random, "0123456789abcdef", 32);
      Upload upload = new Upload(id, List.of(new Upload.Part('"' + part + '"', "", "")));
      String name = "part-00000-8910c647-4c4d-4617-a8d7-d00e6c63dce0.c000.snappy.parquet";
      builder.add(TaskOutput.TABLE, "p=" + i, name);
      builder.uploaded(
          TaskOutput.TABLE,
          "p=" + i,
          name,
          new UploadedFile(i * 1000L, upload.toEtag(etag + "-1")));
    }

    assertThat(builder.build().toBytes().length / files).isBetween(100, 180);
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
    for (String etag : List.of("9a0e-1", "9a0e-1#upload=x", "9a0e-1#upload=#e", "#upload=x#a:b")) {
      assertThatThrownBy(() -> new UploadedFile(1, etag))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Example
  void namesThatDifferInHalfOfASurrogatePairAreReadBack() throws Exception {
    TaskOutput output =
        TaskOutput.builder("j", 0, 0)
            .add(TaskOutput.TABLE, "", "x\uD83D\uDE00")
            .add(TaskOutput.TABLE, "", "x\uD83D\uDE01")
            .add(TaskOutput.TABLE, "", "x\uD83D\uDE01\uD83D\uDE00")
            .build();

    assertThat(TaskOutput.parse(output.toBytes(), ORIGIN)).isEqualTo(output);
  }

  @Example
  void aVeryLongNameIsReadBack() throws Exception {
    TaskOutput output =
        TaskOutput.builder("j", Integer.MAX_VALUE, Long.MAX_VALUE)
            .add(TaskOutput.TABLE, "", "é".repeat(1_000_000))
            .add("abfs://c@a/" + "x".repeat(100_000), "p=" + "y".repeat(100_000), "f")
            .build();

    assertThat(TaskOutput.parse(output.toBytes(), ORIGIN)).isEqualTo(output);
  }

  @Example
  void aTaskWithoutFilesIsReadBack() throws Exception {
    TaskOutput output = TaskOutput.builder("j", 7, 9).build();

    assertThat(TaskOutput.parse(output.toBytes(), ORIGIN)).isEqualTo(output);
    assertThat(output.groups()).isEmpty();
  }

  @Property(tries = 1_000)
  void aBodyOfNonsenseIsRefusedThoughItsChecksumMatches(@ForAll byte[] body) {
    Throwable thrown = catchThrowable(() -> TaskOutput.parse(packed(body, body.length), ORIGIN));
    if (thrown != null) {
      assertThat(thrown)
          .isInstanceOf(CorruptManifestException.class)
          .hasMessageContaining(ORIGIN)
          .hasMessageNotContaining("null");
    }
  }

  @Example
  void halfASurrogatePairIsRefused() {
    for (String[] bad :
        new String[][] {{"", "", "x\uD83D"}, {"", "p=\uDE00", "x"}, {"l\uD83D", "", "x"}}) {
      assertThatThrownBy(() -> TaskOutput.builder("j", 0, 0).add(bad[0], bad[1], bad[2]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("UTF-8");
    }
  }

  @Property(tries = 60)
  void everyTruncationIsNoticed(@ForAll("outputs") TaskOutput output) {
    byte[] message = output.toBytes();
    int step = Math.max(1, message.length / 2_000);
    for (int length = 0; length < message.length; length += length < 64 ? 1 : step) {
      assertIsCorrupt(Arrays.copyOf(message, length));
    }
  }

  @Property(tries = 100)
  void whatIsAppendedIsNoticed(@ForAll("outputs") TaskOutput output, @ForAll byte[] more) {
    if (more.length == 0) {
      return;
    }
    byte[] message = output.toBytes();
    byte[] longer = Arrays.copyOf(message, message.length + more.length);
    System.arraycopy(more, 0, longer, message.length, more.length);

    assertIsCorrupt(longer);
  }

  @Property(tries = 40)
  void everyFlippedBitIsNoticed(@ForAll("outputs") TaskOutput output) {
    byte[] message = output.toBytes();
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
  void manyFlippedBytesAreNoticed(@ForAll("outputs") TaskOutput output, @ForAll Random random) {
    byte[] message = output.toBytes();
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
    byte[] message = TaskOutput.builder("j", 0, 0).build().toBytes();
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
    assertThat(catchThrowable(() -> TaskOutput.parse(packed(body), ORIGIN))).isNull();
  }

  @Example
  void namesThatLeadElsewhereAreRefusedWhenRead() {
    for (String name : List.of("", ".", "..", "a/b", "../f", "/f")) {
      assertIsCorrupt(packed(oneFile("", "p=1", name)));
    }
    for (String directory : List.of(".", "..", "../x", "a/../../x", "/x", "a//b", "a/")) {
      assertIsCorrupt(packed(oneFile("", directory, "f")));
    }
  }

  @Example
  void aNameThatSharesMoreThanThereIsIsRefused() {
    ByteArrayOutputStream body = body("j", 0, 0);
    varint(body, 1);
    text(body, "");
    text(body, "");
    varint(body, 1);
    varint(body, 5);
    text(body, "f");

    assertIsCorrupt(packed(body.toByteArray()));
  }

  @Example
  void aTextThatIsNotUtf8IsRefused() {
    ByteArrayOutputStream body = body("j", 0, 0);
    varint(body, 1);
    varint(body, 1);
    body.write(0xff);
    text(body, "");
    varint(body, 0);

    assertIsCorrupt(packed(body.toByteArray()));
  }

  @Example
  void namesThatLeadElsewhereAreRefusedWhenAdded() {
    for (String name : List.of("", ".", "..", "a/b", "../f", "/f")) {
      assertThatThrownBy(() -> TaskOutput.builder("j", 0, 0).add("", "", name))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'" + name + "'");
    }
    for (String directory : List.of(".", "..", "../x", "a/../../x", "/x", "a//b", "a/")) {
      assertThatThrownBy(() -> TaskOutput.builder("j", 0, 0).add("", directory, "f"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'" + directory + "'");
    }
  }

  @Example
  void anAttemptWithoutAnIdIsRefused() {
    assertThatThrownBy(() -> TaskOutput.builder("", 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> TaskOutput.builder("j", -1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1");
    assertThatThrownBy(() -> TaskOutput.builder("j", 0, -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1");
  }

  @Example
  void aFileAddedTwiceIsThereOnce() {
    TaskOutput output =
        TaskOutput.builder("j", 0, 0).add("", "p=1", "f").add("", "p=1", "f").build();

    assertThat(output.groups()).hasSize(1);
    assertThat(output.groups().get(0).directory()).isEqualTo("p=1");
    assertThat(output.groups().get(0).names()).containsExactly("f");
  }

  @Example
  void namesCannotBeChangedFromOutside() {
    TaskOutput output = TaskOutput.builder("j", 0, 0).add("", "p=1", "f").build();

    assertThatThrownBy(() -> output.groups().clear())
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> output.groups().get(0).names().add("g"))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Example
  void anythingThatDiffersMakesOutputsUnequal() {
    TaskOutput output = TaskOutput.builder("j", 1, 2).add("", "p=1", "f").build();

    assertThat(output)
        .isEqualTo(TaskOutput.builder("j", 1, 2).add("", "p=1", "f").build())
        .isNotEqualTo(TaskOutput.builder("k", 1, 2).add("", "p=1", "f").build())
        .isNotEqualTo(TaskOutput.builder("j", 3, 2).add("", "p=1", "f").build())
        .isNotEqualTo(TaskOutput.builder("j", 1, 3).add("", "p=1", "f").build())
        .isNotEqualTo(TaskOutput.builder("j", 1, 2).add("file:/l", "p=1", "f").build())
        .isNotEqualTo(TaskOutput.builder("j", 1, 2).add("", "p=2", "f").build())
        .isNotEqualTo(TaskOutput.builder("j", 1, 2).add("", "p=1", "g").build())
        .isNotEqualTo("j");
    assertThat(output).asString().contains("task 1", "attempt 2", "job j", "p=1", "f");
  }

  /** The promise: a task of 1,000 files in 100 partitions stays under 32 KiB. */
  @Example
  void aTaskOfAThousandFilesInAHundredPartitionsIsSmall() throws Exception {
    TaskOutput output = thousandFilesInAHundredPartitions();
    byte[] message = output.toBytes();

    assertThat(TaskOutput.parse(message, ORIGIN)).isEqualTo(output);
    assertThat(message.length).isLessThan(32 * 1024);
  }

  private static TaskOutput thousandFilesInAHundredPartitions() {
    String uuid = "3b2f6c1e-8d0a-4f57-9c44-61d7a0e5b9f2";
    TaskOutput.Builder builder =
        TaskOutput.builder("5d9f0f5a-8f3f-4c40-a9c5-2f8d2b9b1c11", 12, 3417);
    for (int partition = 0; partition < 100; partition++) {
      String directory = "year=" + (2018 + partition / 12) + "/month=" + (1 + partition % 12);
      for (int file = 0; file < 10; file++) {
        builder.add(
            TaskOutput.TABLE,
            directory,
            String.format(Locale.ROOT, "part-00000-%s-12.c%03d.snappy.parquet", uuid, file));
      }
    }
    return builder.build();
  }

  @Provide
  Arbitrary<TaskOutput> outputs() {
    Arbitrary<String> locations =
        Arbitraries.oneOf(
            Arbitraries.just(TaskOutput.TABLE), text().map(text -> "abfs://c@a/" + text));
    Arbitrary<String> directories =
        Arbitraries.oneOf(
            Arbitraries.just(""),
            text().map(value -> "p=" + value),
            Combinators.combine(text(), text()).as((a, b) -> "p=" + a + "/q=" + b));
    Arbitrary<List<String[]>> files =
        Combinators.combine(locations, directories, text())
            .as((location, directory, name) -> new String[] {location, directory, name})
            .list()
            .ofMaxSize(30);
    return Combinators.combine(
            text(),
            Arbitraries.integers().greaterOrEqual(0),
            Arbitraries.longs().greaterOrEqual(0),
            files)
        .as(
            (jobId, task, attempt, all) -> {
              TaskOutput.Builder builder = TaskOutput.builder(jobId, task, attempt);
              all.forEach(file -> builder.add(file[0], file[1], file[2]));
              return builder.build();
            });
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

  private static void assertIsCorrupt(byte[] message) {
    assertThatThrownBy(() -> TaskOutput.parse(message, ORIGIN))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContaining(ORIGIN);
  }

  private static ByteArrayOutputStream body(String jobId, long task, long attempt) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    text(body, jobId);
    varint(body, task);
    varint(body, attempt);
    return body;
  }

  private static byte[] oneFile(String location, String directory, String name) {
    ByteArrayOutputStream body = body("j", 0, 0);
    varint(body, 1);
    text(body, location);
    text(body, directory);
    varint(body, 1);
    varint(body, 0);
    text(body, name);
    return body.toByteArray();
  }

  private static void text(ByteArrayOutputStream out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    varint(out, bytes.length);
    out.writeBytes(bytes);
  }

  private static void varint(ByteArrayOutputStream out, long value) {
    long rest = value;
    while (rest > 0x7f) {
      out.write((int) (rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    out.write((int) rest);
  }

  private static byte[] packed(byte[] body) {
    return packed(body, body.length);
  }

  /** A message around {@code body} that only a look at the body itself can refuse. */
  private static byte[] packed(byte[] body, int claimedLength) {
    Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
    byte[] deflated = new byte[body.length + 64];
    deflater.setInput(body);
    deflater.finish();
    int length = deflater.deflate(deflated);
    deflater.end();
    ByteBuffer checked = ByteBuffer.allocate(4 + length);
    checked.putInt(claimedLength).put(deflated, 0, length);
    CRC32C checksum = new CRC32C();
    checksum.update(checked.array());
    return ByteBuffer.allocate(7 + checked.capacity())
        .put(new byte[] {'M', 'C', 1})
        .putInt((int) checksum.getValue())
        .put(checked.array())
        .array();
  }
}
