// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NameNodesTest {
  @ParameterizedTest
  @CsvSource({
    // A host by name and by address, with the port that it has by default and without.
    "hdfs://localhost:9000, hdfs://127.0.0.1:9000",
    "hdfs://localhost, hdfs://127.0.0.1:8020",
    "hdfs://LOCALHOST, hdfs://localhost",
    "hdfs://nowhere.invalid, hdfs://NoWhere.invalid:8020",
    "webhdfs://localhost, webhdfs://127.0.0.1:9870",
    // A nameservice and its nodes.
    "hdfs://ns, hdfs://ns",
    "hdfs://ns, hdfs://127.0.0.2:8020",
    "hdfs://ns, hdfs://127.0.0.2",
    "hdfs://ns, hdfs://127.0.0.3:9000",
    "hdfs://127.0.0.2, hdfs://127.0.0.3:9000",
    "hdfs://ns, webhdfs://ns",
    "hdfs://ns, webhdfs://127.0.0.2",
    "hdfs://single:8020, webhdfs://single:50070"
  })
  void oneNameNodeIsOneStoreByEveryName(URI one, URI other) {
    assertThat(HdfsStore.areSame(conf(), one, other)).isTrue();
    assertThat(HdfsStore.areSame(conf(), other, one)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "hdfs://localhost:9000, hdfs://localhost:9001",
    "hdfs://localhost:9000, hdfs://localhost",
    "hdfs://127.0.0.1, hdfs://127.0.0.4",
    "hdfs://ns, hdfs://other",
    "hdfs://ns, hdfs://127.0.0.2:9999",
    "hdfs://ns, hdfs://127.0.0.4",
    "hdfs://unknown, hdfs://127.0.0.2",
    "hdfs://localhost, webhdfs://localhost",
    "hdfs://nowhere.invalid, hdfs://nowhere2.invalid",
    "hdfs://localhost, file://localhost",
    "hdfs://[::1], hdfs://[::2]"
  })
  void othersAreTwo(URI one, URI other) {
    assertThat(HdfsStore.areSame(conf(), one, other)).isFalse();
    assertThat(HdfsStore.areSame(conf(), other, one)).isFalse();
  }

  private static Configuration conf() {
    Configuration conf = new Configuration(false);
    conf.set("dfs.nameservices", "ns, other,one");
    conf.set("dfs.ha.namenodes.ns", "a, b");
    conf.set("dfs.namenode.rpc-address.ns.a", "127.0.0.2:8020");
    conf.set("dfs.namenode.http-address.ns.a", "127.0.0.2:9870");
    conf.set("dfs.namenode.rpc-address.ns.b", "hdfs://127.0.0.3:9000");
    conf.set("dfs.ha.namenodes.other", "a");
    conf.set("dfs.namenode.rpc-address.other.a", "127.0.0.5:8020");
    conf.set("dfs.namenode.rpc-address.one", "single:8020");
    conf.set("dfs.namenode.http-address.one", "single:50070");
    return conf;
  }
}
