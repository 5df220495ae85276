// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static io.manifestcommitter.config.CommitterConfig.GS_REQUESTS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.SparkWrite;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StoresTest {
  @TempDir File directory;

  private final Configuration conf = new Configuration();
  private final Stores stores = new Stores(conf);

  /** Of each test's own, since Hadoop keeps filesystems open by scheme and authority. */
  private final String cluster = "cluster-" + UUID.randomUUID();

  @ParameterizedTest
  @CsvSource({
    "s3n://b/t, s3a://",
    "s3://b/t, s3a://",
    "wasb://c@a.blob.core.windows.net/t, abfs:// abfss://",
    "wasbs://c@a.blob.core.windows.net/t, abfs:// abfss://",
    "adl://a.azuredatalakestore.net/t, abfs:// abfss://"
  })
  void oldStoresAreRefusedWithTheSchemesToUse(String path, String toUse) {
    assertRefused(() -> stores.resolve(new Path(path)), (path + " " + toUse).split(" "));
    assertThat(stores.refusal(new Path(path))).isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"s3a://b/t", "S3A://b/t"})
  void theHadoopProtocolIsRefusedOnS3WithTheCommitterToUse(String path) {
    assertThat(stores.refusal(new Path(path))).isEmpty();
    assertRefused(
        () -> stores.requireRenames(new Path(path)),
        path,
        "mapreduce.outputcommitter.factory.scheme.s3a",
        "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory",
        "fs.s3a.committer.name");
  }

  @ParameterizedTest
  @CsvSource({
    "s3, org.apache.hadoop.fs.s3a.S3AFileSystem",
    "s3n, org.apache.hadoop.fs.s3a.S3AFileSystem",
    "minio, org.apache.hadoop.fs.s3a.S3AFileSystem",
    "s3, org.apache.hadoop.fs.s3a.S3AFileSystem$Extended"
  })
  void s3IsWhatTheFilesystemOfHadoopAwsServes(String scheme, String connector) throws Exception {
    Configuration memory = MemoryFileSystem.configuration();
    memory.set("fs." + scheme + ".impl", connector);
    memory.set("fs." + scheme + ".impl.disable.cache", "true");
    Stores byClass = new Stores(memory);
    Path table = new Path(scheme + "://b/t");

    assertThat(byClass.refusal(table)).isEmpty();
    assertThat(byClass.resolve(table)).isEqualTo(table);
    assertThat(byClass.all().traits(table)).isEqualTo(StoreTraits.S3);
    byClass.requireSafeRename(table);
    assertThat(byClass.resolve(new Path("s3a://b/l"))).as("one bucket").isEqualTo(child(table));
    assertThat(byClass.refusalOfRenames(table).orElseThrow())
        .contains("factory.scheme." + scheme + " to org.apache.hadoop.fs.s3a.commit.S3ACommitter");
    memory.set("fs.s3a.multipart.uploads.enabled", "false");
    assertThat(new Stores(memory).refusalBySettings(table).orElseThrow())
        .contains("Set it to true");
  }

  private static Path child(Path table) {
    return new Path(table.getParent(), "l");
  }

  /** Amazon's own, say. */
  @ParameterizedTest
  @ValueSource(strings = {"s3", "s3n"})
  void s3OfAnotherFilesystemIsRefused(String scheme) {
    conf.set("fs." + scheme + ".impl", MemoryFileSystem.class.getName());
    assertThat(stores.refusal(new Path(scheme + "://b/t")).orElseThrow())
        .contains("filesystem is not the one of hadoop-aws", "s3a://");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "abfs://c@a/t",
        "abfss://c@a/t",
        "gs://b/t",
        "hdfs://n/t",
        "file:/t",
        "viewfs://v/t",
        "oss://b/t"
      })
  void otherStoresAreServed(String path) {
    assertThat(stores.refusal(new Path(path))).isEmpty();
  }

  @Test
  void anUnqualifiedPathIsThatOfTheDefaultFilesystem() throws Exception {
    assertThat(stores.resolve(new Path(directory.getPath())))
        .isEqualTo(new Path(directory.toURI().getScheme(), null, directory.getPath()));
  }

  @Test
  void aRelativePathIsQualifiedToo() throws Exception {
    Path resolved = stores.resolve(new Path("some/table"));

    assertThat(resolved.toUri().getScheme()).isEqualTo("file");
    assertThat(resolved.toUri().getPath()).startsWith("/").endsWith("/some/table");
  }

  @Test
  void anUnqualifiedPathIsRefusedWhereTheDefaultFilesystemIs() {
    conf.set("fs.defaultFS", "s3n://bucket");

    assertRefused(() -> new Stores(conf).resolve(new Path("/t")), "/t", "s3n");
  }

  @Test
  void aViewfsMountIsResolvedToTheStoreBehindIt() throws Exception {
    File mounted = new File(directory, "mounted");
    assertThat(mounted.mkdir()).isTrue();
    mount(mounted);

    assertThat(new Stores(conf).resolve(new Path("viewfs://" + cluster + "/data")))
        .isEqualTo(local(mounted, ""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"t", "new/deep/table", "time=12:30/t", "a b/ü", "100%/#1"})
  void aTableThatDoesNotExistYetIsResolvedThroughItsMount(String relative) throws Exception {
    File mounted = new File(directory, "mounted");
    assertThat(mounted.mkdir()).isTrue();
    mount(mounted);
    Path asked = StorePaths.resolve(new Path("viewfs://" + cluster + "/data"), relative);

    assertThat(new Stores(conf).resolve(asked)).isEqualTo(local(mounted, relative));
  }

  @ParameterizedTest
  @CsvSource({
    "file:/t, LOCAL",
    "hdfs://localhost:1/t, HDFS",
    "webhdfs://localhost:1/t, WEBHDFS",
    "abfs://c@a/t, ABFS",
    "abfss://c@a/t, ABFS",
    "gs://b/t, GCS",
    "mem://b/t, UNKNOWN"
  })
  void traitsAreThoseOfTheFamily(String path, StoreTraits traits) {
    for (String scheme : List.of("abfs", "abfss", "gs", "mem")) {
      conf.set("fs." + scheme + ".impl", MemoryFileSystem.class.getName());
    }
    assertThat(stores.all().traits(new Path(path))).isEqualTo(traits);
  }

  @Test
  void gsHasIdentitiesWhereTheConnectorShowsChecksums() {
    conf.set("fs.gs.impl", MemoryFileSystem.class.getName());
    conf.set("fs.gs.checksum.type", "crc32c");

    StoreTraits traits = new Stores(conf).all().traits(new Path("gs://checked/t"));

    assertThat(traits).isEqualTo(StoreTraits.GCS_WITH_CHECKSUMS);
  }

  @Test
  void gsIsRefusedWhereTheConnectorDoesNotSayThatItMoves() throws Exception {
    conf.set("fs.gs.impl", MemoryFileSystem.class.getName());
    Path path = new Path("gs://copies/t");
    new Stores(conf).requireSafeRename(path);
    conf.set("fs.gs.impl", GoogleHadoopFileSystem.class.getName());
    conf.setBoolean("fs.gs.impl.disable.cache", true);
    conf.set("fs.gs.operation.move.enable", "false");

    assertRefused(
        () -> new Stores(conf).requireSafeRename(path),
        path.toString(),
        "by copying",
        "fs.gs.operation.move.enable as true",
        GS_REQUESTS + " to direct",
        "add gs to " + CommitterConfig.ATOMIC_RENAME_SCHEMES);
    conf.set(CommitterConfig.ATOMIC_RENAME_SCHEMES, "gs");
    new Stores(conf).requireSafeRename(path);
  }

  @Test
  void aServerWithoutMovesIsRefusedBeforeAnyTaskRuns() throws Exception {
    Configuration folders = MemoryFileSystem.configuration(MemoryFileSystem.GS_FOLDERS);
    folders.set("fs.gs.operation.move.enable", "false");
    Path path = new Path("gs://without-moves/t");

    assertRefused(
        () -> SparkWrite.append(folders, path),
        path.toString(),
        "fs.gs.operation.move.enable",
        GS_REQUESTS);
    assertThat(MemoryFileSystem.state("without-moves").requests()).isEmpty();

    folders.set(GS_REQUESTS, "filesystem");
    folders.set(CommitterConfig.ATOMIC_RENAME_SCHEMES, "gs");
    new Stores(folders).requireSafeRename(path);
    folders.unset(GS_REQUESTS);
    folders.unset("fs.gs.operation.move.enable");
    new Stores(folders).requireSafeRename(path);
  }

  @Test
  void aStoreThatNobodyKnowsIsRefusedUnlessItIsVouchedFor() throws Exception {
    conf.set("fs.mem.impl", MemoryFileSystem.class.getName());
    Path path = new Path("mem://b/t");

    assertRefused(
        () -> new Stores(conf).requireSafeRename(path),
        path.toString(),
        "verify-store",
        "add mem to " + CommitterConfig.ATOMIC_RENAME_SCHEMES);
    conf.set(CommitterConfig.ATOMIC_RENAME_SCHEMES, "ofs, mem");
    new Stores(conf).requireSafeRename(path);
    assertThat(new Stores(conf).all().traits(path)).isEqualTo(StoreTraits.VOUCHED);
    new Stores(conf).requireSafeRename(local(directory, "t"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"abfs", "abfss"})
  void anAccountWithoutDirectoriesIsRefused(String scheme) throws Exception {
    conf.set("fs." + scheme + ".impl", MemoryFileSystem.class.getName());
    conf.setBoolean("fs." + scheme + ".impl.disable.cache", true);
    Path path = new Path(scheme + "://c@flat/t");
    new Stores(conf).requireSafeRename(path);
    conf.setBoolean(MemoryFileSystem.FLAT, true);

    assertRefused(
        () -> new Stores(conf).requireSafeRename(path), path.toString(), "hierarchical namespace");
  }

  @ParameterizedTest
  @CsvSource({
    "abfs://c@a/t, abfss://c@a/l, abfs://c@a/l",
    "abfss://c@a/t, abfs://c@A/l, abfss://c@a/l",
    "abfs://c@a/t, abfss://d@a/l, abfss://d@a/l",
    "abfs://c@a/t, abfss://c@b/l, abfss://c@b/l",
    "hdfs://localhost/t, hdfs://127.0.0.1:8020/l, hdfs://localhost/l",
    "hdfs://localhost/t, hdfs://localhost:9000/l, hdfs://localhost:9000/l",
    "hdfs://localhost/t, hdfs://LOCALHOST/l, hdfs://localhost/l",
    "gs://b/t, gs://c/l, gs://c/l",
    "gs://b/t, gs://B/l, gs://b/l",
    "s3a://b/t, s3a://B/l, s3a://b/l",
    "mem://b/t, mem://B/l, mem://b/l",
    "gs://b/t, abfs://b/l, abfs://b/l",
    "hdfs://localhost/t, mem://localhost/l, mem://localhost/l"
  })
  void aStoreIsCalledAsItWasFirst(Path table, Path other, Path named) throws Exception {
    Configuration memory = MemoryFileSystem.configuration();
    Stores byName = new Stores(memory);
    assertThat(byName.all().named(other)).isEqualTo(other);
    assertThat(byName.resolve(table)).isEqualTo(table);
    assertThat(byName.all().named(other)).isEqualTo(named);
    assertThat(byName.resolve(other)).isEqualTo(named);
    assertThat(byName.all().named(table)).isEqualTo(table);
    assertThat(byName.all().named(new Path("/unqualified"))).isEqualTo(new Path("/unqualified"));
  }

  /** A report directory, say: nobody asked for the name of its store. */
  @Test
  void aStoreThatIsOpenByTwoNamesHasTheFirst() throws Exception {
    Stores byName = new Stores(MemoryFileSystem.configuration());
    byName.resolve(new Path("abfs://c@a/t"));
    byName.all().of(new Path("abfss://c@a/reports"));
    assertThat(byName.resolve(new Path("abfss://c@a/l"))).isEqualTo(new Path("abfs://c@a/l"));
  }

  @Test
  void everyRequestGoesToTheStoreOfItsPath() throws Exception {
    Store all = stores.all();
    Path table = local(directory, "table");
    Path file = new Path(table, "f");
    byte[] content = "content".getBytes(StandardCharsets.UTF_8);

    all.mkdirs(table);
    all.write(file, out -> out.write(content));

    assertThat(Files.readAllBytes(new File(directory, "table/f").toPath())).isEqualTo(content);
    assertThat(all.read(file, 100)).isEqualTo(content);
    assertThat(all.status(file)).isPresent();
    all.deleteFile(file);
    assertThat(all.status(file)).isEmpty();
    assertThat(all.deleteEmptyDirectory(table)).isTrue();
    assertThat(new File(directory, "table")).doesNotExist();
  }

  @Test
  void aStoreIsOpenedOnce() throws Exception {
    assertThat(stores.all().of(local(directory, "a")))
        .isSameAs(stores.all().of(local(directory, "b")));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aMountBelowATableIsRefused(boolean hasFallback) {
    String table = "viewfs://" + cluster + "/warehouse/t";
    String mounts = "fs.viewfs.mounttable." + cluster + ".";
    File target = new File(directory, "elsewhere");
    assertThat(target.mkdir()).isTrue();
    assertThat(new File(directory, "fallback/warehouse/t").mkdirs()).isTrue();
    conf.set(mounts + "link./warehouse/t/p=1", target.toURI().toString());
    conf.set(mounts + "link./warehouse/t2", target.toURI().toString());
    if (hasFallback) {
      conf.set(mounts + "linkFallback", new File(directory, "fallback").toURI().toString());
    }

    assertRefused(
        () -> stores.resolve(new Path(table)),
        table + ",",
        table + "/p=1 (file:" + target + ")",
        "by the URI");
  }

  @Test
  void aTableInAFallbackOrOnAMountIsServed() throws Exception {
    File fallback = new File(directory, "fallback");
    assertThat(new File(fallback, "warehouse/t").mkdirs()).isTrue();
    mount(directory);
    String mounts = "fs.viewfs.mounttable." + cluster + ".";
    conf.set(mounts + "linkFallback", fallback.toURI().toString());

    assertThat(stores.resolve(new Path("viewfs://" + cluster + "/warehouse/t")))
        .isEqualTo(local(fallback, "warehouse/t"));
    assertThat(stores.resolve(new Path("viewfs://" + cluster + "/data")))
        .isEqualTo(local(directory, ""));
  }

  private static void assertRefused(ThrowingCallable call, String... says) {
    assertThatThrownBy(call)
        .isInstanceOf(UnsupportedStoreException.class)
        .hasMessageContainingAll(says);
  }

  private void mount(File target) {
    conf.set("fs.viewfs.mounttable." + cluster + ".link./data", target.toURI().toString());
  }

  private static Path local(File parent, String relative) {
    return StorePaths.resolve(new Path("file", null, parent.getPath()), relative);
  }

  @Test
  void aViewfsMountWithoutATargetIsRefused() {
    Configuration conf = new Configuration();
    conf.set(
        "fs.viewfs.mounttable.nowhere.link./data",
        new File(directory, "missing").toURI().toString());
    assertRefused(
        () -> new Stores(conf).resolve(new Path("viewfs://nowhere/data/t")),
        "viewfs://nowhere/data/t");
  }

  /** A task asks so for each of its files, of stores that it opens for nothing else. */
  @Test
  void whatIsUploadedIsKnownWithoutOpeningTheStore() {
    Configuration conf = new Configuration(false);
    conf.set("fs.gs.impl", "no.such.FileSystem");
    conf.set("fs.s3a.impl", "no.such.FileSystem");
    Stores stores = new Stores(conf);
    assertThat(stores.completesUploads(new Path("gs://bucket/table"))).isFalse();
    assertThat(stores.completesUploads(new Path("s3a://bucket/table"))).isTrue();
  }
}
