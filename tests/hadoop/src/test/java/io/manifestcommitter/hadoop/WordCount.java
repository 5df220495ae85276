// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Locale;
import java.util.StringTokenizer;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobClient;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RunningJob;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;

/** Counts words, with task attempts that end as they are told to. */
final class WordCount {
  private static final String MAP_ENDS = "test.first.map.attempt";
  private static final String REDUCE_ENDS = "test.first.reduce.attempt";

  private WordCount() {}

  /** How the first attempt of the first task ends, when it has written all of its output. */
  enum FirstAttempt {
    /** It commits. */
    SUCCEEDS,
    /** It throws. */
    FAILS,
    /** It asks the application master to be killed, and waits for it. */
    IS_KILLED
  }

  /** A job that reads all lines below {@code input}. Without reducers it writes words and ones. */
  static Job job(Configuration conf, Path input, Path output, int reducers) throws IOException {
    Job job = Job.getInstance(conf, "word count");
    job.setMapperClass(Tokenizer.class);
    job.setReducerClass(Adder.class);
    job.setNumReduceTasks(reducers);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(LongWritable.class);
    job.setOutputFormatClass(UniqueNames.class);
    FileInputFormat.addInputPath(job, input);
    FileOutputFormat.setOutputPath(job, output);
    return job;
  }

  /** Says how the first attempt of the first map ends, by default it succeeds. */
  static void firstMapAttempt(Configuration conf, FirstAttempt end) {
    conf.set(MAP_ENDS, end.name());
  }

  /** Says how the first attempt of the first reduce ends, by default it succeeds. */
  static void firstReduceAttempt(Configuration conf, FirstAttempt end) {
    conf.set(REDUCE_ENDS, end.name());
  }

  private static void end(TaskInputOutputContext<?, ?, ?, ?> context, String key)
      throws IOException, InterruptedException {
    TaskAttemptID attempt = context.getTaskAttemptID();
    if (attempt.getTaskID().getId() != 0 || attempt.getId() != 0) {
      return;
    }
    Configuration conf = context.getConfiguration();
    String end = conf.get(key, FirstAttempt.SUCCEEDS.name());
    switch (FirstAttempt.valueOf(end.toUpperCase(Locale.ROOT))) {
      case SUCCEEDS -> {}
      case FAILS -> throw new IOException("The first attempt fails, as it was told to");
      case IS_KILLED -> killAndWait(conf, attempt);
    }
  }

  private static void killAndWait(Configuration conf, TaskAttemptID attempt)
      throws IOException, InterruptedException {
    try (JobClient client = new JobClient(new JobConf(conf))) {
      RunningJob job = client.getJob(org.apache.hadoop.mapred.JobID.downgrade(attempt.getJobID()));
      job.killTask(org.apache.hadoop.mapred.TaskAttemptID.downgrade(attempt), false);
      new CountDownLatch(1).await();
    }
  }

  /** Emits every word with a one. */
  public static final class Tokenizer extends Mapper<LongWritable, Text, Text, LongWritable> {
    private static final LongWritable ONE = new LongWritable(1);

    @Override
    protected void map(
        LongWritable offset,
        Text line,
        Mapper<LongWritable, Text, Text, LongWritable>.Context context)
        throws IOException, InterruptedException {
      StringTokenizer words = new StringTokenizer(line.toString());
      while (words.hasMoreTokens()) {
        context.write(new Text(words.nextToken()), ONE);
      }
    }

    @Override
    protected void cleanup(Mapper<LongWritable, Text, Text, LongWritable>.Context context)
        throws IOException, InterruptedException {
      end(context, MAP_ENDS);
    }
  }

  /** Adds the ones up. */
  public static final class Adder extends Reducer<Text, LongWritable, Text, LongWritable> {
    @Override
    protected void reduce(
        Text word,
        Iterable<LongWritable> ones,
        Reducer<Text, LongWritable, Text, LongWritable>.Context context)
        throws IOException, InterruptedException {
      long sum = 0;
      for (LongWritable one : ones) {
        sum += one.get();
      }
      context.write(word, new LongWritable(sum));
    }

    @Override
    protected void cleanup(Reducer<Text, LongWritable, Text, LongWritable>.Context context)
        throws IOException, InterruptedException {
      end(context, REDUCE_ENDS);
    }
  }

  /**
   * Text in files whose names never repeat, as Spark's do: so that output which is there twice
   * shows as two files, and does not fail the second rename.
   */
  public static final class UniqueNames extends TextOutputFormat<Text, LongWritable> {
    @Override
    public Path getDefaultWorkFile(TaskAttemptContext context, String extension)
        throws IOException {
      return super.getDefaultWorkFile(context, "-" + UUID.randomUUID() + extension);
    }
  }

  /**
   * HDFS that ends the JVM at a rename that publishes something, counted from 1 for each instance;
   * an instance is made for each committer. Its settings are options of the job, so that it works
   * in other processes too.
   */
  public static final class HaltingHdfs extends DistributedFileSystem {
    private static final String MOMENT = "test.halts.moment";
    private static final String AT = "test.halts.at";
    private static final String MARKER = "test.halts.marker";

    private final AtomicInteger renames = new AtomicInteger();

    /** When the JVM ends. */
    enum Moment {
      /** Before the rename. */
      RENAME,
      /** After the job's directory was deleted past the rename. */
      CLEANUP
    }

    /**
     * A copy of a job's settings with which a process halts that comes so far.
     *
     * @param marker the file that the first one makes, after which none halts any more
     */
    static Configuration halt(Configuration job, Moment moment, int at, java.nio.file.Path marker) {
      Configuration conf = new Configuration(job);
      conf.set("fs.hdfs.impl", HaltingHdfs.class.getName());
      conf.setBoolean("fs.hdfs.impl.disable.cache", true);
      conf.setEnum(MOMENT, moment);
      conf.setInt(AT, at);
      conf.set(MARKER, marker.toString());
      return conf;
    }

    /** Whether a job's rename publishes: into its output directory, {@code _temporary} excepted. */
    static boolean publishes(Configuration job, Path destination) {
      String table = new Path(job.get(FileOutputFormat.OUTDIR)).toUri().getPath();
      String path = destination.toUri().getPath();
      return path.startsWith(table + "/") && !path.startsWith(table + "/_temporary/");
    }

    @Override
    public boolean rename(Path source, Path destination) throws IOException {
      if (publishes(getConf(), destination)
          && renames.incrementAndGet() == getConf().getInt(AT, 0)) {
        haltOnce(Moment.RENAME);
      }
      return super.rename(source, destination);
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
      boolean deleted = super.delete(path, recursive);
      if (renames.get() >= getConf().getInt(AT, 0) && path.getName().startsWith("manifest_")) {
        haltOnce(Moment.CLEANUP);
      }
      return deleted;
    }

    private void haltOnce(Moment moment) throws IOException {
      if (getConf().getEnum(MOMENT, moment) != moment) {
        return;
      }
      try {
        Files.createFile(Paths.get(getConf().get(MARKER)));
      } catch (FileAlreadyExistsException e) {
        return;
      }
      Runtime.getRuntime().halt(1);
    }
  }
}
