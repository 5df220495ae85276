// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.Setting;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.Stores;
import io.manifestcommitter.store.UnsupportedStoreException;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;

/**
 * Makes the committer of a path as a job would, and asks nothing more of it: nothing is written.
 * Some connectors make requests when they are opened, and try for minutes where there is no answer;
 * so that is done by a thread of its own, which is left behind after a while.
 */
final class CommitterProbe {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final String DYNAMIC_OVERWRITE = "mapreduce.job.committer.dynamic.partitioning";

  private final Duration patience;

  CommitterProbe() {
    this(PATIENCE);
  }

  /**
   * A probe.
   *
   * @param patience how long to wait for a store
   */
  CommitterProbe(Duration patience) {
    this.patience = Objects.requireNonNull(patience);
  }

  /** The committer of a path, or why there is none. Throws nothing but what ends a program. */
  Probed probe(Configuration conf, Path path) {
    FutureTask<Probed> task = new FutureTask<>(() -> new Search(conf, path).run());
    Thread thread = new Thread(task, "committer-info");
    thread.setDaemon(true);
    thread.start();
    try {
      return task.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      task.cancel(true);
      return Probed.failed(
          Problem.error(
              ProblemCode.NO_ANSWER,
              path
                  + " was not opened within "
                  + patience.toSeconds()
                  + " s, so its committer could not be made. Check that the store's host can be"
                  + " reached from here, and its credentials",
              Repair.none()));
    } catch (InterruptedException e) {
      task.cancel(true);
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while " + path + " was looked at", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("Looking at " + path + " failed", e.getCause());
    }
  }

  /** Finds the factory of a path without asking it for a committer. */
  Probed factoryOnly(Configuration conf, Path path) {
    Search search = new Search(conf, path);
    search.findFactory();
    return search.failure == null ? Probed.nothing() : Probed.failed(search.failure);
  }

  private static final class Search {
    private final Configuration conf;
    private final Path path;
    private PathOutputCommitterFactory factory;
    private Problem failure;
    private Setting fileSystem;
    private String refusal;

    Search(Configuration conf, Path path) {
      this.conf = new JobConf(conf);
      this.conf.setClassLoader(conf.getClassLoader());
      this.conf.set(FileOutputFormat.OUTDIR, path.toString());
      this.path = path;
    }

    Probed run() {
      findFactory();
      if (failure == null || isS3asFactory()) {
        // Which is missing with the connector, without which nothing is written.
        openStore();
      }
      Probed probed = failure == null ? makeCommitter() : Probed.failed(failure);
      return fileSystem == null && refusal == null ? probed : probed.on(fileSystem, refusal);
    }

    private boolean isS3asFactory() {
      return FactoryBinding.of(conf, path).className().equals(ClassNames.S3A_FACTORY);
    }

    void findFactory() {
      FactoryBinding binding = FactoryBinding.of(conf, path);
      try {
        factory = PathOutputCommitterFactory.getCommitterFactory(path, conf);
      } catch (RuntimeException | LinkageError e) {
        String missing = Causes.missingClass(e);
        failure =
            missing == null
                ? factoryFailed(binding.className(), e)
                : factoryNotFound(binding, missing);
      }
    }

    private void openStore() {
      String scheme = path.toUri().getScheme();
      if (new Stores(conf).refusal(path).isPresent()) {
        return; // A committer that refuses does so without the store; others open it themselves.
      }
      refusal = new Stores(conf).refusalBySettings(path).orElse(null);
      try {
        if (scheme != null) {
          FileSystem.getFileSystemClass(scheme, conf);
        }
        Class<?> opened = path.getFileSystem(conf).getClass();
        fileSystem = new Setting(opened.getName(), ClassNames.jarWith(opened));
        new Stores(conf).requireSafeRename(path);
      } catch (UnsupportedStoreException e) {
        refusal = e.getMessage();
      } catch (IOException | RuntimeException | LinkageError e) {
        if (refusal != null) {
          return; // What would let it open does not let the committer serve it.
        }
        String missing = Causes.missingClass(e);
        failure =
            missing != null || e instanceof UnsupportedFileSystemException
                ? storeNotFound(scheme, missing)
                : storeFailed(e);
      }
    }

    private Probed makeCommitter() {
      TaskAttemptContext context =
          new TaskAttemptContextImpl(
              conf, new TaskAttemptID(new TaskID(new JobID("info", 1), TaskType.MAP, 0), 0));
      try {
        PathOutputCommitter committer = factory.createOutputCommitter(path, context);
        return Probed.committer(
            committer.getClass().getName(),
            String.valueOf(committer),
            committer.getWorkPath(),
            jobDirectory(committer, context),
            promisesDynamicOverwrite(committer));
      } catch (UnsupportedStoreException e) {
        return Probed.nothing(); // Told by whoever knows what else is set.
      } catch (IOException | RuntimeException | LinkageError e) {
        return Probed.failed(factoryFailed(factory.getClass().getName(), e));
      }
    }

    private Problem factoryNotFound(FactoryBinding binding, String missing) {
      String jar = ClassNames.jarOf(missing);
      return Problem.error(
          ProblemCode.FACTORY_NOT_FOUND,
          "The committer factory "
              + binding.className()
              + (missing.equals(binding.className())
                  ? " is not on the class path"
                  : " needs " + missing + ", which is not on the class path")
              + ", so MapReduce jobs and RDD writers fail. It is in "
              + jar
              + (ClassNames.isOurFactory(missing)
                  ? ", which has to be there when the JVM starts: Hadoop does not look into a jar"
                      + " that SQL's ADD JAR brings later"
                  : ""),
          ClassNames.isOurFactory(missing) || isS3asFactory() ? Repair.addJar(jar) : bindOurs());
    }

    private Problem factoryFailed(String className, Throwable e) {
      return Problem.error(
          ProblemCode.FACTORY_FAILED,
          "The committer factory " + className + " makes no committer: " + Causes.message(e),
          ClassNames.isOurFactory(className) ? Repair.none() : bindOurs());
    }

    /** On S3 ours is refused; there it is S3A's own that does not work as it is set. */
    private Repair bindOurs() {
      String scheme = path.toUri().getScheme();
      return new Stores(conf).refusalOfRenames(path).isPresent()
          ? S3Diagnosis.enableMagic(conf, String.valueOf(path.toUri().getAuthority()))
          : FactoryBinding.of(conf, path).bindOurs(scheme);
    }

    private Problem storeNotFound(String scheme, String missing) {
      String name = scheme == null ? FileSystem.getDefaultUri(conf).getScheme() : scheme;
      StoreFamily family = new Stores(conf).family(path);
      if (family == StoreFamily.GCS) {
        return gcsNotFound(missing);
      }
      String jar =
          missing == null ? ClassNames.connectorOf(family, name) : ClassNames.jarOf(missing);
      return Problem.error(
          ProblemCode.STORE_NOT_FOUND,
          "There is no FileSystem for "
              + name
              + ":// on the class path"
              + (missing == null ? "" : " (" + missing + " is missing)")
              + ", so no job can write there, and the committer was not made. It is in "
              + jar,
          Repair.addJar(jar));
    }

    /** Two connectors answer to gs://, and Hadoop 3.5 sets the one that hardly anybody has. */
    private Problem gcsNotFound(String missing) {
      boolean otherBound =
          ConnectorDiagnosis.fileSystem(conf, path)
              .filter(bound -> !bound.value().equals(ClassNames.GOOGLES_GS))
              .isPresent();
      boolean googlesIsThere = ClassNames.loads(conf.getClassLoader(), ClassNames.GOOGLES_GS);
      String jar = ClassNames.connectorOf(StoreFamily.GCS, "");
      Repair bind = otherBound ? GcsDiagnosis.bindGoogles() : Repair.none();
      return Problem.error(
          ProblemCode.STORE_NOT_FOUND,
          "There is no FileSystem for gs:// on the class path"
              + (missing == null ? "" : " (" + missing + " is missing)")
              + ", so no job can write there, and the committer was not made. "
              + (googlesIsThere ? "Google's connector is there" : "Google's connector is in " + jar)
              + (otherBound
                  ? "; it is used only where "
                      + GcsDiagnosis.IMPL
                      + " names it, which is "
                      + ConnectorDiagnosis.fileSystem(conf, path)
                          .map(Setting::toString)
                          .orElse("not set")
                  : ""),
          googlesIsThere ? bind : bind.andJar(jar));
    }

    private Problem storeFailed(Throwable e) {
      return Problem.error(
          ProblemCode.STORE_FAILED,
          path
              + " cannot be opened, so the committer was not made: "
              + Causes.message(e)
              + ". Check the path, the account and its credentials",
          Repair.none());
    }

    private static Path jobDirectory(PathOutputCommitter committer, TaskAttemptContext context)
        throws IOException {
      if (committer instanceof FileOutputCommitter) {
        return ((FileOutputCommitter) committer).getJobAttemptPath(context);
      }
      Path work = committer.getWorkPath();
      return committer.getClass().getName().equals(ClassNames.COMMITTER)
          ? work.getParent().getParent()
          : null;
    }

    private static boolean promisesDynamicOverwrite(PathOutputCommitter committer) {
      return committer instanceof StreamCapabilities
          && ((StreamCapabilities) committer).hasCapability(DYNAMIC_OVERWRITE);
    }
  }
}
