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
    "hdfs://localhost:9000, hdfs://127.0.0.1:9000, true",
    "hdfs://localhost, hdfs://127.0.0.1:8020, true",
    "hdfs://LOCALHOST, hdfs://localhost, true",
    "hdfs://nowhere.invalid, hdfs://NoWhere.invalid:8020, true",
    "webhdfs://localhost, webhdfs://127.0.0.1:9870, true",
    // A nameservice and its nodes.
    "hdfs://ns, hdfs://ns, true",
    "hdfs://ns, hdfs://127.0.0.2:8020, true",
    "hdfs://ns, hdfs://127.0.0.2, true",
    "hdfs://ns, hdfs://127.0.0.3:9000, true",
    "hdfs://127.0.0.2, hdfs://127.0.0.3:9000, true",
    "hdfs://ns, webhdfs://ns, true",
    "hdfs://ns, webhdfs://127.0.0.2, true",
    "hdfs://single:8020, webhdfs://single:50070, true",
    // Others.
    "hdfs://localhost:9000, hdfs://localhost:9001, false",
    "hdfs://localhost:9000, hdfs://localhost, false",
    "hdfs://127.0.0.1, hdfs://127.0.0.4, false",
    "hdfs://ns, hdfs://other, false",
    "hdfs://ns, hdfs://127.0.0.2:9999, false",
    "hdfs://ns, hdfs://127.0.0.4, false",
    "hdfs://unknown, hdfs://127.0.0.2, false",
    "hdfs://localhost, webhdfs://localhost, false",
    "hdfs://nowhere.invalid, hdfs://nowhere2.invalid, false",
    "hdfs://localhost, file://localhost, false",
    "hdfs://[::1], hdfs://[::2], false"
  })
  void oneNameNodeIsOneStoreByEveryName(URI one, URI other, boolean areSame) {
    assertThat(HdfsStore.areSame(conf(), one, other)).isEqualTo(areSame);
    assertThat(HdfsStore.areSame(conf(), other, one)).isEqualTo(areSame);
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
