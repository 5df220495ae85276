// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileList;
import io.manifestcommitter.manifest.Samples;
import io.manifestcommitter.testing.Damage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Files that claim to be a committer's, printed: all of it, or an exit code and a line that names
 * the file and says what to do; never a stack trace.
 */
class HostileReportTest {
  @TempDir private Path directory;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  /** What is damaged. */
  enum Document {
    REPORT {
      @Override
      byte[] content() {
        return Samples.hadoopFailureReport();
      }
    },
    S3A_REPORT {
      @Override
      byte[] content() {
        return Samples.s3aReport();
      }
    },
    MANIFEST {
      @Override
      byte[] content() {
        return Samples.hadoopTaskManifest();
      }
    },
    FILE_LIST {
      @Override
      byte[] content() throws IOException {
        ByteArrayOutputStream list = new ByteArrayOutputStream();
        org.apache.hadoop.fs.Path table = new org.apache.hadoop.fs.Path("file:/t");
        FileEntry file =
            new FileEntry(
                new org.apache.hadoop.fs.Path(table, "s"),
                new org.apache.hadoop.fs.Path(table, "p=1/f"),
                7,
                "e",
                0);
        FileList.write(list, "job", table, 3, List.of(file, file, file));
        return list.toByteArray();
      }
    };

    abstract byte[] content() throws IOException;
  }

  @ParameterizedTest
  @EnumSource(Document.class)
  void damagedFilesAreToldInALine(Document document) throws IOException {
    byte[] intact = document.content();
    Path file = directory.resolve("_SUCCESS");
    for (long seed : Damage.seeds(30)) {
      Files.write(file, Damage.of(intact, seed));
      requireToldInALine(file, document + ", -Dhostile.seed=" + seed);
    }
  }

  @Test
  void numbersAtTheirLimitsArePrinted() throws IOException {
    String report = new String(Samples.hadoopFailureReport(), StandardCharsets.UTF_8);
    Path file = directory.resolve("_SUCCESS");
    for (String number : List.of("" + Long.MAX_VALUE, "" + Long.MIN_VALUE, "0", "-1")) {
      Files.writeString(file, report.replaceAll(": -?[0-9]+", ": " + number));
      requireToldInALine(file, number);
    }
    Files.writeString(file, report.replaceAll(": -?[0-9]+", ": 92233720368547758080"));
    assertThat(run(file.toString())).isEqualTo(1);
  }

  @Test
  void aDirectoryIsNoReport() throws IOException {
    Files.createDirectories(directory.resolve("t/_SUCCESS"));
    assertThat(run(directory.resolve("t").toString())).isEqualTo(1);
    assertThat(text(err)).contains("t/_SUCCESS is a directory").contains("Move it away");
  }

  @Test
  void whatIsTooLongIsNotRead() throws IOException {
    Path file = directory.resolve("_SUCCESS");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(1L << 40);
    }
    assertThat(run(file.toString())).isEqualTo(1);
    assertThat(text(err)).contains("1.0 TiB").contains("so it is no file of a committer");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength((64 << 20) + 1);
      sparse.write(
          "{\"name\":\"org.apache.hadoop.fs.s3a.commit.files.SuccessData/1\"}"
              .getBytes(StandardCharsets.UTF_8));
      byte[] spaces = new byte[1 << 20];
      Arrays.fill(spaces, (byte) ' ');
      while (sparse.getFilePointer() < sparse.length()) {
        sparse.write(
            spaces, 0, (int) Math.min(spaces.length, sparse.length() - sparse.getFilePointer()));
      }
    }
    assertThat(run(file.toString())).isEqualTo(1);
    assertThat(text(err)).contains("67108865 bytes, more than 67108864");
  }

  /** A few kilobytes that are an endless line. */
  @Test
  void whatIsSmallAndExpandsIsNotHeld() throws IOException {
    Path file = directory.resolve("_SUCCESS.files");
    try (GZIPOutputStream gzip = new GZIPOutputStream(Files.newOutputStream(file))) {
      byte[] much = new byte[1 << 20];
      Arrays.fill(much, (byte) 'a');
      for (int i = 0; i < 64; i++) {
        gzip.write(much);
      }
    }
    assertThat(Files.size(file)).isLessThan(1 << 17);
    assertThat(run(file.toString())).isEqualTo(1);
    assertThat(text(err)).contains(file.toString()).contains("a line has more than");
  }

  private void requireToldInALine(Path file, String context) {
    for (String[] arguments : new String[][] {{file.toString()}, {"--json", file.toString()}}) {
      out.reset();
      err.reset();
      int code;
      try {
        code = run(arguments);
      } catch (RuntimeException | Error e) {
        throw new AssertionError(context, e);
      }
      assertThat(text(out)).as(context).doesNotContain("java.lang.");
      if (code == 0) {
        assertThat(text(err)).as(context).isEmpty();
      } else {
        assertThat(code).as(context).isEqualTo(1);
        assertThat(text(err).lines()).as(context).hasSize(1);
        assertThat(text(err)).as(context).contains(file.toString()).hasSizeLessThan(5000);
      }
    }
  }

  private int run(String... arguments) {
    try (PrintStream toOut = new PrintStream(out, true, StandardCharsets.UTF_8);
        PrintStream toErr = new PrintStream(err, true, StandardCharsets.UTF_8)) {
      return new ManifestPrinter(toOut, toErr).run(arguments);
    }
  }

  private static String text(ByteArrayOutputStream stream) {
    return stream.toString(StandardCharsets.UTF_8);
  }
}
