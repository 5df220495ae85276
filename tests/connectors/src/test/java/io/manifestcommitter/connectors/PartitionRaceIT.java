package io.manifestcommitter.connectors;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.Onto;
import io.manifestcommitter.spark.ManifestCommitProtocol;
import io.manifestcommitter.spark.TaskMessage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import scala.collection.JavaConverters;

/**
 * Another job makes a partition while a directory's rename to it is on its way. Whatever the store
 * answers, the files of both jobs are in the partition, and in no other directory.
 */
class PartitionRaceIT {
  private static final byte[] CONTENT = "new".getBytes(StandardCharsets.UTF_8);

  @AfterEach
  void answerAsBefore() {
    EmulatedStore.abfs().faults().clear();
    EmulatedStore.abfs().onExistingDirectory(Onto.NESTS);
  }

  @ParameterizedTest
  @CsvSource({
    "NESTS,append,true",
    "NESTS,append,false",
    "NESTS,dynamic,true",
    "NESTS,dynamic,false",
    "CONFLICT,append,true",
    "CONFLICT,append,false",
    "CONFLICT,dynamic,true",
    "CONFLICT,dynamic,false",
    "REPLACES_IF_EMPTY,append,true",
    "REPLACES_IF_EMPTY,append,false",
    "REPLACES_IF_EMPTY,dynamic,true",
    "REPLACES_IF_EMPTY,dynamic,false"
  })
  void bothJobsFilesAreThere(Onto answer, String kind, boolean withFile) throws Exception {
    EmulatedStore store = EmulatedStore.ABFS;
    Configuration conf = store.conf();
    Path table = store.newRoot("race");
    FileSystem fs = table.getFileSystem(conf);
    boolean isOverwrite = kind.equals("dynamic");
    fs.mkdirs(table);
    if (isOverwrite) {
      fs.create(new Path(table, "p=1/old")).close();
    }
    EmulatedStore.abfs().onExistingDirectory(answer);
    FaultRule rename =
        EmulatedStore.abfs()
            .faults()
            .add(FaultRule.on("rename").path(table.toUri().getPath() + "/p=1$").hold());

    ExecutorService driver = Executors.newSingleThreadExecutor();
    try {
      Future<List<String>> job = driver.submit(() -> write(conf, table, isOverwrite));
      rename.awaitHeld();
      Set<String> expected = new TreeSet<>();
      fs.mkdirs(new Path(table, "p=1"));
      if (withFile) {
        fs.create(new Path(table, "p=1/other")).close();
        expected.add("/p=1/other");
      }
      rename.release();
      expected.addAll(job.get());
      assertThat(visible(table)).isEqualTo(expected);
    } finally {
      driver.shutdownNow();
    }
  }

  /** One job with two files in a partition; says where they belong. */
  private static List<String> write(Configuration conf, Path table, boolean dynamic)
      throws IOException {
    String id = UUID.randomUUID().toString();
    ManifestCommitProtocol protocol = new ManifestCommitProtocol(id, table.toString(), dynamic);
    JobContext job = new JobContextImpl(conf, new JobID("202601010000", 1));
    protocol.setupJob(job);
    List<String> files = List.of("p=1/part-0-" + id, "p=1/part-1-" + id);
    List<String> expected = new ArrayList<>();
    for (String file : files) {
      Path staged = new Path(table, "_manifest_" + id + "/00/output/" + file);
      try (FSDataOutputStream out = staged.getFileSystem(conf).create(staged, false)) {
        out.write(CONTENT);
      }
      expected.add("/" + file);
    }
    List<TaskCommitMessage> messages = List.of(TaskMessage.of(id, 0, 0, files));
    protocol.commitJob(job, JavaConverters.asScalaBufferConverter(messages).asScala().toSeq());
    return expected;
  }

  /** The files that a reader sees, relative to the table. */
  private static Set<String> visible(Path table) {
    String prefix = table.toUri().getPath();
    Set<String> files = new TreeSet<>();
    EmulatedStore.abfs()
        .tree()
        .forEach(
            (path, size) -> {
              if (path.startsWith(prefix + "/") && !path.endsWith("/") && !path.contains("/_")) {
                files.add(path.substring(prefix.length()));
              }
            });
    return files;
  }
}
