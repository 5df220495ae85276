// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import io.manifestcommitter.hadoop.Hdfs.HdfsExtension;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.v2.MiniMRYarnCluster;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** A YARN of one node, with MapReduce's history server, on the tests' HDFS. */
record Yarn(MiniMRYarnCluster cluster) implements CloseableResource {
  /** What the JVMs of containers need on Java 17, and what makes them start fast. */
  private static final String JVM =
      "-Xmx512m --add-opens=java.base/java.lang=ALL-UNNAMED -XX:+UseSerialGC"
          + " -XX:TieredStopAtLevel=1";

  /** Starts one below the working directory. */
  static Yarn start(Hdfs hdfs) {
    Configuration conf = hdfs.conf();
    conf.set("yarn.app.mapreduce.am.staging-dir", "/staging");
    conf.setInt("yarn.nodemanager.resource.memory-mb", 8192);
    conf.setInt("yarn.minicluster.yarn.nodemanager.resource.memory-mb", 8192);
    conf.setBoolean("yarn.nodemanager.vmem-check-enabled", false);
    conf.setBoolean("yarn.nodemanager.pmem-check-enabled", false);
    conf.setFloat(
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", 99.5f);
    // Small jobs are nearly all heartbeats, of a second by default.
    conf.setInt("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", 100);
    conf.setInt("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", 100);
    conf.set("yarn.app.mapreduce.am.command-opts", JVM);
    conf.set("mapreduce.map.java.opts", JVM);
    conf.set("mapreduce.reduce.java.opts", JVM);
    MiniMRYarnCluster cluster = new MiniMRYarnCluster("yarn", 1);
    cluster.init(conf);
    cluster.start();
    return new Yarn(cluster);
  }

  /** The settings of a job that runs here and writes through the manifest committer. */
  Configuration conf() {
    return Hdfs.bind(new Configuration(cluster.getConfig()));
  }

  @Override
  public void close() {
    cluster.stop();
  }

  /** Gives tests the one {@link Yarn} of this JVM, which is stopped after the last of them. */
  static final class YarnExtension implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(YarnExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == Yarn.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      Hdfs hdfs = HdfsExtension.hdfs(context);
      return context
          .getRoot()
          .getStore(NAMESPACE)
          .getOrComputeIfAbsent(Yarn.class, key -> Yarn.start(hdfs), Yarn.class);
    }
  }
}
