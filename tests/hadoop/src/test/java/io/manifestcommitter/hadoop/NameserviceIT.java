// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.testing.SparkWrite;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;
import org.apache.hadoop.hdfs.server.namenode.ha.HATestUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A nameservice of two NameNodes, called by its name and by the address of the active one. */
class NameserviceIT {
  @Test
  void aPlaceByTheAddressOfANodeIsThatOfItsNameservice(@TempDir java.nio.file.Path ownDirectory)
      throws Exception {
    Configuration conf = new Configuration();
    // A cluster that starts empties its directory, that of the other tests too if it has the same.
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, ownDirectory.toString());
    MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(conf)
            .nnTopology(MiniDFSNNTopology.simpleHATopology())
            .numDataNodes(1)
            .build();
    try {
      cluster.transitionToActive(0);
      HATestUtil.setFailoverConfigurations(cluster, conf, "ns");
      Hdfs.bind(conf);
      Path table = new Path("hdfs://ns/table");
      FileSystem fs = table.getFileSystem(conf);
      fs.create(new Path(table, "p=1/old")).close();
      fs.create(new Path("/elsewhere/old")).close();
      Path node = new Path("hdfs://localhost:" + cluster.getNameNodePort(0) + "/");
      Path partition = new Path(node, "table/p=1");
      Path location = new Path(node, "elsewhere");

      SparkWrite write = SparkWrite.overwrite(conf, table, partition, location).withoutRows();
      write.taskAt(0, partition);
      write.taskAt(1, location);
      assertThat(write.staged().values())
          .allSatisfy(path -> assertThat(path.toUri().getAuthority()).isEqualTo("ns"));
      write.commit();

      for (Path place : Set.of(new Path("/table/p=1"), new Path("/elsewhere"))) {
        assertThat(fs.listStatus(place))
            .singleElement()
            .satisfies(file -> assertThat(file.getPath().getName()).contains(write.id()));
      }
    } finally {
      cluster.shutdown();
    }
  }
}
