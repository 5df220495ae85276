// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.ManifestCommitterFactory;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.info.CommitterInfo;
import io.manifestcommitter.journal.CommitJournal;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.plan.JobPlan.ExistingDirectories;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.spark.ManifestCommitProtocol;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.testing.HadoopCalls;
import io.manifestcommitter.testing.MemoryFileSystem;
import io.manifestcommitter.testing.MemoryStoreState;
import io.manifestcommitter.testing.SparkCalls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.mapreduce.JobID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each spelling of one place, through each entry by which a name comes in. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SpellingsTest {
  private static final String AUTHORITY = "spelled";
  private static final String JOB = "3c1f2a90-0000-4000-8000-000000000001";

  private final MemoryStoreState state = MemoryFileSystem.state(AUTHORITY);
  private Configuration conf;

  @BeforeEach
  void empty() {
    state.clear();
    conf = configuration();
  }

  private static Configuration configuration() {
    Configuration conf = MemoryFileSystem.configuration();
    conf.set("fs.s3.impl", S3AFileSystem.class.getName());
    conf.set("fs.s3.impl.disable.cache", "true");
    MemoryFileSystem.same(conf, AUTHORITY, "SPELLED");
    MemoryFileSystem.same(conf, AUTHORITY, AUTHORITY + ":8020");
    return conf;
  }

  /** The root of a store, and a directory in it. */
  static Stream<String> spellings() {
    return Stream.concat(roots(), tables());
  }

  private static Stream<String> roots() {
    return Stream.concat(
        Stream.of("gs", "hdfs", "s3", "s3a").map(scheme -> scheme + "://" + AUTHORITY),
        Stream.of("", "/", "//", "/.", "/..", "/../.", "/x/..")
            .map(path -> "abfs://" + AUTHORITY + path));
  }

  private static Stream<String> tables() {
    return Stream.of(
            Stream.of("/t", "/t/", "//t", "/./t", "/t/.", "/x/../t", "/../t")
                .map(path -> "abfs://" + AUTHORITY + path),
            Stream.of("abfs", "gs", "hdfs", "s3", "s3a").map(scheme -> scheme + "://SPELLED/t"),
            Stream.of("hdfs://" + AUTHORITY + ":8020/t", "abfss://" + AUTHORITY + "/t"))
        .flatMap(spellings -> spellings);
  }

  /** As the store has it: empty for its root. */
  private static String place(String spelling) {
    return spelling.endsWith("t") || spelling.endsWith("t/") || spelling.endsWith("t/.")
        ? "/t"
        : "";
  }

  @ParameterizedTest
  @MethodSource("spellings")
  void anAppend(String spelling) throws Exception {
    String place = place(spelling);
    state.write(place + "/p=1/old", "old");
    write(calls(spelling, false), task -> task.newFile("p=1", ".x"));
    assertThat(data(place + "/p=1/")).hasSize(2).contains("old");
    assertThat(state.exists(place + "/_SUCCESS")).isTrue();
  }

  @ParameterizedTest
  @MethodSource("spellings")
  void anAppendWithoutPartitions(String spelling) throws Exception {
    String place = place(spelling);
    state.write(place + "/old", "old");
    write(calls(spelling, false), task -> task.newFile("", ".x"));
    assertThat(data(place + "/")).hasSize(2).contains("old");
  }

  @ParameterizedTest
  @MethodSource("spellings")
  void aDynamicOverwrite(String spelling) throws Exception {
    String place = place(spelling);
    state.write(place + "/p=1/old", "old");
    state.write(place + "/p=2/old", "old");
    write(calls(spelling, true), task -> task.newFile("p=1", ".x"));
    assertThat(data(place + "/p=1/")).hasSize(1).doesNotContain("old");
    assertThat(data(place + "/p=2/")).containsExactly("old");
  }

  @ParameterizedTest
  @MethodSource("spellings")
  void anOverwrite(String spelling) throws Exception {
    String place = place(spelling);
    state.write(place + "/p=2/old", "old");
    String plain = URI.create(spelling).getScheme() + "://" + AUTHORITY + place;
    SparkCalls calls = calls(plain, false);
    calls.replace(new Path(URI.create(spelling)));
    write(calls, task -> task.newFile("p=1", ".x"));
    assertThat(data(place + "/p=1/")).hasSize(1);
    assertThat(state.exists(place + "/p=2/old")).isFalse();
  }

  @ParameterizedTest
  @MethodSource("tables")
  void aLocation(String spelling) throws Exception {
    state.write("/t/old", "old");
    String table = URI.create(spelling).getScheme() + "://" + AUTHORITY + "/table";
    write(calls(table, true), task -> task.newFileAt(spelling, ".x"));
    assertThat(data("/t/")).hasSize(1).doesNotContain("old");
  }

  /** Also by the name of its store in capitals. */
  @ParameterizedTest
  @MethodSource("spellings")
  void aLocationThatHoldsTheTable(String spelling) throws Exception {
    String table = URI.create(spelling).getScheme() + "://" + AUTHORITY + "/t/table";
    SparkCalls calls = calls(table, false);
    assertThatThrownBy(() -> write(calls, task -> task.newFileAt(spelling, ".x")))
        .hasMessageContaining("holds the table");
    calls.abort();
  }

  @ParameterizedTest
  @MethodSource("spellings")
  void theHadoopProtocol(String spelling) throws Exception {
    if (spelling.startsWith("s3")) {
      return;
    }
    String scheme = URI.create(spelling).getScheme();
    conf.set(
        "mapreduce.outputcommitter.factory.scheme." + scheme,
        ManifestCommitterFactory.class.getName());
    HadoopCalls calls = new HadoopCalls(conf, new Path(URI.create(spelling)), new JobID("1", 1));
    calls.setupJob();
    Path work = calls.setupTask(0, 0).getWorkPath();
    write(new Path(work, "part-0"));
    calls.commitTask(0, 0);
    calls.commitJob();
    assertThat(data(place(spelling) + "/")).containsExactly("part-0");
    assertThat(state.exists(place(spelling) + "/_SUCCESS")).isTrue();
  }

  @ParameterizedTest
  @MethodSource("spellings")
  void theDirectoryForReports(String spelling) throws Exception {
    MemoryFileSystem.state("elsewhere").clear();
    conf.set(CommitterConfig.SUMMARY_REPORT_DIRECTORY, spelling);
    write(
        calls("mem://elsewhere/" + place(spelling) + "/table", false),
        task -> task.newFile("p=1", ".x"));
    assertThat(state.exists(place(spelling) + "/summary-" + JOB + ".json")).isTrue();
    assertThat(Answers.value(conf, "history", spelling, "{}")).contains(JOB);
    assertThat(Answers.value(conf, "report", spelling, "{}")).contains(JOB);
  }

  @ParameterizedTest
  @MethodSource("spellings")
  void recoveringAndCleaning(String spelling) throws Exception {
    String place = place(spelling);
    String scheme = URI.create(spelling).getScheme();
    Path table = new Path(scheme, AUTHORITY, place + "/");
    died(new StagingRoot(table, "dead"));
    assertThat(Recover.ofSession(conf, spelling, false, true)).contains("\"rolled_back\"");
    assertThat(state.files()).isEmpty();

    state.write(place + "/_manifest_left/00/output/a", "a");
    assertThat(Clean.ofSession(conf, spelling, "0s", false, false, true))
        .contains("\"removed\":true");
    assertThat(state.files()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("spellings")
  void printingAndInfo(String spelling) throws Exception {
    String place = place(spelling);
    write(calls(spelling, false), task -> task.newFile("p=1", ".x"));

    assertThat(output(ManifestPrinter::new, spelling)).contains(JOB);
    assertThat(Answers.value(conf, "report", spelling, "{}")).contains(JOB, place + "/_SUCCESS");
    String protocolIsOurs =
        "{\"spark.sql.sources.commitProtocolClass\":{\"value\":\""
            + ManifestCommitProtocol.class.getName()
            + "\",\"source\":\"x\"}}";
    assertThat(
            CommitterInfo.ofSession(
                conf, conf, getClass().getClassLoader(), protocolIsOurs, spelling, "x.jar"))
        .doesNotContain("store-failed", "factory-failed", "unusable-path");
  }

  @ParameterizedTest
  @MethodSource("spellings")
  void verifying(String spelling) {
    if (spelling.startsWith("abfs:")) {
      assertThat(output(VerifyStore::new, spelling)).contains("  as needed  ");
      assertThat(state.paths()).noneMatch(path -> path.contains("proofs"));
    }
  }

  private void died(StagingRoot root) throws IOException {
    Store store = new Stores(conf).all();
    Path source = new Path(root.sealed(), "p=2/new");
    Path destination = new Path(root.directory(), "p=2/new");
    store.mkdirs(source.getParent());
    store.write(source, content -> content.write("new".getBytes(StandardCharsets.UTF_8)));
    FileEntry file = store.status(source).get().movedTo(destination);
    JobPlanner planner = new JobPlanner("dead", new Target(root.directory(), root.root()));
    planner.publish(file);
    try (JobPlan plan =
        planner.plan(new ExistingDirectories(Set.of(), Set.of()), List.of(), List.of())) {
      CommitJournal.write(store, root.attempt(), plan).begin();
    }
  }

  /** The names of files, those of the committer left out. */
  private Set<String> data(String directory) {
    return state.files().keySet().stream()
        .filter(path -> path.startsWith(directory))
        .map(path -> path.substring(path.lastIndexOf('/') + 1))
        .filter(name -> !name.startsWith("_"))
        .collect(Collectors.toSet());
  }

  private SparkCalls calls(String table, boolean isDynamic) {
    return new SparkCalls(new ManifestCommitProtocol(JOB, table, isDynamic), JOB, conf);
  }

  /** One job of one task that writes one file; it leaves nothing in the store. */
  private void write(SparkCalls calls, Function<SparkCalls.Attempt, Path> newFile)
      throws IOException {
    calls.setUp();
    SparkCalls.Attempt task = calls.attempt(0, 0);
    write(newFile.apply(task));
    calls.commit(List.of(task.commitApproved()));
    assertThat(state.paths()).noneMatch(path -> path.contains("_manifest_"));
  }

  private void write(Path file) throws IOException {
    try (OutputStream out = file.getFileSystem(conf).create(file)) {
      out.write("content".getBytes(StandardCharsets.UTF_8));
    }
  }

  /** What a program prints that ends well. */
  private String output(BiFunction<PrintStream, PrintStream, Program> program, String path) {
    List<String> args = new ArrayList<>();
    for (Map.Entry<String, String> setting : conf) {
      if (setting.getKey().startsWith("fs.") || setting.getKey().startsWith("memory.")) {
        args.addAll(List.of("-D", setting.getKey() + "=" + setting.getValue()));
      }
    }
    args.add(path);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    try (PrintStream toOut = new PrintStream(out, true, StandardCharsets.UTF_8);
        PrintStream toErr = new PrintStream(err, true, StandardCharsets.UTF_8)) {
      assertThat(program.apply(toOut, toErr).run(args.toArray(new String[0])))
          .as(() -> err.toString(StandardCharsets.UTF_8))
          .isZero();
    }
    return out.toString(StandardCharsets.UTF_8);
  }
}
