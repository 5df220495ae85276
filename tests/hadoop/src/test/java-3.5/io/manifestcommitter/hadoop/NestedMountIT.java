// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.testing.SparkWrite;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A viewfs in which another directory is mounted below a mounted one, as Hadoop 3.4 permits. */
class NestedMountIT extends OnHdfs {
  private static final String CLUSTER = "nested";

  /** Its rows would go to the table's directory, and readers would look behind the mount. */
  @ParameterizedTest
  @ValueSource(strings = {"p=1", "y=1/m=2"})
  void aTableWithAMountBelowItIsRefused(String mounted) throws IOException {
    Path target = hdfs.newTable("elsewhere");
    Path table = hdfs.newTable("table");
    hdfs.write(new Path(target, "old"), "behind the mount");
    hdfs.write(new Path(table, "p=0/old"), "old");
    Configuration conf = conf(table);
    conf.set(link("/warehouse/t/" + mounted), target.toString());
    Path asked = new Path("viewfs://" + CLUSTER + "/warehouse/t");
    assertThat(
            new Path(asked, mounted + "/old")
                .getFileSystem(conf)
                .exists(new Path(asked, mounted + "/old")))
        .as("this Hadoop has nested mounts")
        .isTrue();
    Map<String, String> before = hdfs.visible(table);

    assertThatThrownBy(() -> SparkWrite.append(conf, asked))
        .hasMessageContaining("Another filesystem is mounted below " + asked + ",")
        .hasMessageContaining(asked + "/" + mounted)
        .hasMessageContainingAll(target.toString(), "by the URI of its own filesystem");

    assertThat(hdfs.visible(table)).isEqualTo(before);
    assertThat(hdfs.fs().listStatus(table)).hasSize(1);
  }

  /** What lies on a mount inside another one, or beside it, has no mount below it. */
  @ParameterizedTest
  @ValueSource(strings = {"/warehouse/t/nested", "/warehouse/t/nested/deep", "/warehouse/t/beside"})
  void aTableWithoutAMountBelowItIsWritten(String path) throws IOException {
    Path outer = hdfs.newTable("outer");
    Path target = hdfs.newTable("inner");
    hdfs.fs().mkdirs(outer);
    hdfs.fs().mkdirs(target);
    Configuration conf = conf(outer);
    conf.set(link("/warehouse/t/nested"), target.toString());
    Path table = new Path("viewfs://" + CLUSTER + path);

    SparkWrite write = SparkWrite.append(conf, table).task(0, "p=1");
    write.commit();

    Path behind =
        path.contains("nested")
            ? new Path(target + path.substring("/warehouse/t/nested".length()))
            : new Path(outer, "beside");
    assertThat(hdfs.visibleFiles(behind)).hasSize(1).containsValue(write.content("p=1"));
    assertThat(table.getFileSystem(conf).listStatus(new Path(table, "p=1"))).hasSize(1);
  }

  private Configuration conf(Path outer) {
    Configuration conf = hdfs.conf();
    // Mounts are read once for each filesystem.
    conf.setBoolean("fs.viewfs.impl.disable.cache", true);
    conf.set(link("/warehouse/t"), outer.toString());
    return conf;
  }

  private static String link(String path) {
    return "fs.viewfs.mounttable." + CLUSTER + ".link." + path;
  }
}
