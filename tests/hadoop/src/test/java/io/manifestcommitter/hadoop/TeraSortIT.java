// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.ManifestCommitter;
import io.manifestcommitter.manifest.SuccessReport;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.terasort.TeraGen;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.examples.terasort.TeraValidate;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The sort that is Hadoop's own acceptance test, on YARN and HDFS. */
@ExtendWith({HdfsExtension.class, YarnExtension.class})
class TeraSortIT {
  private static final int ROWS = 20_000;
  private static final int ROW_BYTES = 100;

  private final Hdfs hdfs;
  private final Yarn yarn;

  TeraSortIT(Hdfs hdfs, Yarn yarn) {
    this.hdfs = hdfs;
    this.yarn = yarn;
  }

  @Test
  void whatWasGeneratedIsSortedAndValid() throws Exception {
    Path generated = hdfs.newTable("tera-generated");
    Path sorted = hdfs.newTable("tera-sorted");
    Path validated = hdfs.newTable("tera-validated");

    run(new TeraGen(), Integer.toString(ROWS), generated.toString());
    assertCommitted(generated, 2);
    assertThat(bytes(generated)).isEqualTo((long) ROWS * ROW_BYTES);

    run(new TeraSort(), generated.toString(), sorted.toString());
    assertCommitted(sorted, 2);
    assertThat(bytes(sorted)).isEqualTo((long) ROWS * ROW_BYTES);

    run(new TeraValidate(), sorted.toString(), validated.toString());
    assertCommitted(validated, 1);
    Map<String, String> findings = hdfs.visible(validated);
    assertThat(findings).hasSize(1);
    // One line, the checksum: TeraValidate adds a line for each row that is out of order.
    assertThat(findings.values().iterator().next()).matches("checksum\t[0-9a-f]+\n");
    assertThat(checksum(validated)).isEqualTo(checksumOf(generated));
  }

  /** The order says nothing about loss: the sums of all rows before and after have to agree. */
  private String checksumOf(Path unsorted) throws Exception {
    Path validated = hdfs.newTable("tera-checksum");
    // Its findings are disorder this time, but it adds up the same. In this JVM, to be fast.
    String[] args = {unsorted.toString(), validated.toString()};
    assertThat(ToolRunner.run(hdfs.conf(), new TeraValidate(), args)).isZero();
    return checksum(validated);
  }

  private String checksum(Path validated) throws IOException {
    return hdfs.visible(validated).values().stream()
        .flatMap(String::lines)
        .filter(line -> line.startsWith("checksum"))
        .findFirst()
        .orElseThrow();
  }

  private void run(Tool tool, String... args) throws Exception {
    assertThat(ToolRunner.run(conf(), tool, args)).as(tool.getClass().getName()).isZero();
  }

  private Configuration conf() {
    Configuration conf = yarn.conf();
    conf.setInt("mapreduce.job.maps", 2);
    conf.setInt("mapreduce.job.reduces", 2);
    // With one reducer or none, tasks run in the application master: fewer JVMs to start.
    conf.setBoolean("mapreduce.job.ubertask.enable", true);
    return conf;
  }

  private void assertCommitted(Path table, int files) throws IOException {
    SuccessReport report = hdfs.report(table);
    assertThat(report.committer()).isEqualTo(ManifestCommitter.class.getName());
    assertThat(report.success()).isTrue();
    assertThat(report.statistics().counters())
        .containsEntry("committer_files_committed", (long) files);
    assertThat(hdfs.fs().exists(new Path(table, "_temporary"))).isFalse();
  }

  private long bytes(Path table) throws IOException {
    long bytes = 0;
    for (FileStatus file : hdfs.fs().listStatus(table)) {
      if (file.getPath().getName().startsWith("part-")) {
        bytes += file.getLen();
      }
    }
    return bytes;
  }
}
