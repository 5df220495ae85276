package io.manifestcommitter.hadoop;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/**
 * HDFS of which a rename that publishes something goes wrong: one into the job's output directory,
 * {@code _temporary} excepted. They are counted from 1 for each instance, and an instance is made
 * for each committer. Its settings are options of the job, so that it works in other processes too.
 */
public final class FaultyHdfs extends DistributedFileSystem {
  private static final String FAULT = "test.faults.kind";
  private static final String AT = "test.faults.at";
  private static final String MARKER = "test.faults.marker";

  /** How many renames failed in this JVM. */
  private static final AtomicInteger INJECTED = new AtomicInteger();

  private final AtomicInteger renames = new AtomicInteger();
  private Fault fault = Fault.NONE;
  private int at;

  /** What goes wrong. */
  enum Fault {
    /** Nothing. */
    NONE,
    /** The rename throws and is not done, and so do all after it. */
    FAILS_FROM,
    /** The rename answers false and is not done, and so do all after it. */
    REFUSES_FROM,
    /** The rename is done and throws, once. */
    THROWS_AFTER_EFFECT,
    /** The rename is done and answers false, once. */
    REFUSES_AFTER_EFFECT,
    /** The JVM ends, before the rename, unless the marker file exists, which it makes. */
    HALTS,
    /** The JVM ends in the same way, after the job's directory was deleted past the rename. */
    HALTS_AFTER_CLEANUP
  }

  /** A copy of a job's settings with which the {@code at}-th publishing rename goes wrong. */
  static Configuration inject(Configuration job, Fault fault, int at) {
    Configuration conf = new Configuration(job);
    conf.set("fs.hdfs.impl", FaultyHdfs.class.getName());
    conf.setBoolean("fs.hdfs.impl.disable.cache", true);
    conf.set(FAULT, fault.name());
    conf.setInt(AT, at);
    return conf;
  }

  /** A copy of a job's settings with which the first process that comes so far halts. */
  static Configuration halt(Configuration job, Fault fault, int at, java.nio.file.Path marker) {
    Configuration conf = inject(job, fault, at);
    conf.set(MARKER, marker.toString());
    return conf;
  }

  /** How many renames have failed in this JVM so far. */
  static int injected() {
    return INJECTED.get();
  }

  @Override
  public void initialize(URI uri, Configuration conf) throws IOException {
    super.initialize(uri, conf);
    fault = Fault.valueOf(conf.get(FAULT, Fault.NONE.name()).toUpperCase(Locale.ROOT));
    at = conf.getInt(AT, 0);
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    if (!publishes(destination)) {
      return super.rename(source, destination);
    }
    int number = renames.incrementAndGet();
    boolean from = number >= at;
    boolean exactly = number == at;
    switch (fault) {
      case NONE:
        break;
      case FAILS_FROM:
        if (from) {
          throw failure(number);
        }
        break;
      case REFUSES_FROM:
        if (from) {
          INJECTED.incrementAndGet();
          return false;
        }
        break;
      case THROWS_AFTER_EFFECT:
        if (exactly) {
          super.rename(source, destination);
          throw failure(number);
        }
        break;
      case REFUSES_AFTER_EFFECT:
        if (exactly) {
          INJECTED.incrementAndGet();
          super.rename(source, destination);
          return false;
        }
        break;
      case HALTS:
        if (exactly) {
          haltOnce();
        }
        break;
      case HALTS_AFTER_CLEANUP:
        break;
    }
    return super.rename(source, destination);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    boolean deleted = super.delete(path, recursive);
    if (fault == Fault.HALTS_AFTER_CLEANUP
        && renames.get() >= at
        && path.getName().startsWith("manifest_")) {
      haltOnce();
    }
    return deleted;
  }

  private boolean publishes(Path destination) {
    String table = new Path(getConf().get(FileOutputFormat.OUTDIR)).toUri().getPath();
    String path = destination.toUri().getPath();
    return path.startsWith(table + "/") && !path.startsWith(table + "/_temporary/");
  }

  private static IOException failure(int number) {
    INJECTED.incrementAndGet();
    return new IOException("Injected failure of rename " + number);
  }

  private void haltOnce() throws IOException {
    try {
      Files.createFile(Paths.get(getConf().get(MARKER)));
    } catch (FileAlreadyExistsException e) {
      return;
    }
    Runtime.getRuntime().halt(1);
  }
}
