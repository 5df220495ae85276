// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import io.manifestcommitter.ManifestCommitterFactory;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.manifest.SuccessReport;
import io.manifestcommitter.testing.TableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.security.NoSuchAlgorithmException;
import java.security.PrivilegedExceptionAction;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.crypto.key.KeyProvider;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** An HDFS of one name node and one data node, and what the tests do with it. */
public final class Hdfs implements CloseableResource {
  /** The key by which Hadoop finds the committer's factory for HDFS. */
  static final String FACTORY_KEY = "mapreduce.outputcommitter.factory.scheme.hdfs";

  private static final String KEY = "of-the-tests";

  private final MiniDFSCluster cluster;
  private final DistributedFileSystem fs;
  private final AtomicInteger tables = new AtomicInteger();

  private Hdfs(MiniDFSCluster cluster) throws IOException {
    this.cluster = cluster;
    this.fs = cluster.getFileSystem();
  }

  /** Starts one below {@code hdfs.minidfs.basedir}. */
  static Hdfs start() {
    try {
      Configuration conf = new Configuration();
      // How long a client that closes a file waits, twice as long each time, before it asks again
      // whether the data node's report has arrived: 400 ms and 5 times by default, for nearly every
      // file of these tests. Nearly as patient in the end.
      conf.setInt("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", 5);
      conf.setInt("dfs.client.block.write.locateFollowingBlock.retries", 11);
      // Where the keys of encryption zones are: a file, so that no key server is needed.
      conf.set(
          "hadoop.security.key.provider.path",
          "jceks://file" + Files.createTempDirectory("keys").toUri().getPath() + "test.jceks");
      return new Hdfs(new MiniDFSCluster.Builder(conf).numDataNodes(1).build());
    } catch (IOException e) {
      throw new UncheckedIOException("HDFS did not start", e);
    }
  }

  /** The settings of a job that writes to this filesystem through the manifest committer. */
  public Configuration conf() {
    return bind(new Configuration(fs.getConf()));
  }

  /** Binds the manifest committer, with the settings that its users are told for HDFS. */
  static Configuration bind(Configuration conf) {
    conf.set(FACTORY_KEY, ManifestCommitterFactory.class.getName());
    conf.setBoolean("mapreduce.manifest.committer.cleanup.parallel.delete", false);
    // How long a client of MapReduce waits between two looks at its job: 1 and 5 s by default.
    conf.setInt("mapreduce.client.progressmonitor.pollinterval", 100);
    conf.setInt("mapreduce.client.completion.pollinterval", 100);
    return conf;
  }

  /** The same, with a value of {@code directory.rename}. */
  Configuration conf(String directoryRename) {
    Configuration conf = conf();
    conf.set(CommitterConfig.DIRECTORY_RENAME, directoryRename);
    return conf;
  }

  /** Does something as a user, with filesystems of his own. */
  static <T> T as(UserGroupInformation user, PrivilegedExceptionAction<T> action) throws Exception {
    return user.doAs(action);
  }

  /** What only this file or directory has, wherever it is renamed to. */
  long fileId(Path path) throws IOException {
    return fs.getClient().getFileInfo(path.toUri().getPath()).getFileId();
  }

  DistributedFileSystem fs() {
    return fs;
  }

  MiniDFSCluster cluster() {
    return cluster;
  }

  /** The path of a table that nobody else has; nothing is there yet. */
  public Path newTable(String name) {
    return fs.makeQualified(new Path("/tables/" + tables.incrementAndGet() + "-" + name));
  }

  /** The same path by HTTP. */
  public Path byHttp(Path path) {
    return new Path(
        "webhdfs://" + cluster.getHttpUri(0).replaceFirst("^http://", "") + path.toUri().getPath());
  }

  /** Makes an empty directory in which everything is encrypted. */
  void makeEncryptionZone(Path zone) throws IOException {
    KeyProvider keys = cluster.getNamesystem().getProvider();
    if (keys.getMetadata(KEY) == null) {
      try {
        keys.createKey(KEY, KeyProvider.options(fs.getConf()));
      } catch (NoSuchAlgorithmException e) {
        throw new IOException(e);
      }
      keys.flush();
    }
    fs.mkdirs(zone);
    fs.createEncryptionZone(zone, KEY);
  }

  void write(Path file, String content) throws IOException {
    TableFiles.write(fs, file, content);
  }

  byte[] bytes(Path file) throws IOException {
    byte[] content = new byte[Math.toIntExact(fs.getFileStatus(file).getLen())];
    try (FSDataInputStream in = fs.open(file)) {
      in.readFully(0, content);
    }
    return content;
  }

  String read(Path file) throws IOException {
    return TableFiles.read(fs, file);
  }

  /** The report in a table. */
  SuccessReport report(Path table) throws IOException {
    Path success = new Path(table, "_SUCCESS");
    return SuccessReport.parse(bytes(success), success.toString());
  }

  /** What a reader of a table sees. */
  Map<String, String> visible(Path table) throws IOException {
    return TableFiles.visible(fs, table);
  }

  /** As {@link #visible}, without the directories. */
  Map<String, String> visibleFiles(Path table) throws IOException {
    Map<String, String> files = visible(table);
    files.keySet().removeIf(name -> name.endsWith("/"));
    return files;
  }

  @Override
  public void close() throws IOException {
    fs.close();
    cluster.shutdown();
  }

  /** Gives tests the one {@link Hdfs} of this JVM, which is stopped after the last of them. */
  public static final class HdfsExtension implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(HdfsExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == Hdfs.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return hdfs(context);
    }

    /** The filesystem, started by the first who asks. */
    static Hdfs hdfs(ExtensionContext context) {
      return context
          .getRoot()
          .getStore(NAMESPACE)
          .getOrComputeIfAbsent(Hdfs.class, key -> Hdfs.start(), Hdfs.class);
    }
  }
}
