// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.emulator.S3Emulator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.security.PrivilegedExceptionAction;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * A store as its users address it, served by the emulator of this JVM. The emulators are shared by
 * all test classes: whoever adds a fault, a latency or a limit rolls it back.
 */
public enum EmulatedStore {
  /** ADLS Gen2. */
  ABFS,
  /** The same store as {@link #ABFS} through TLS. */
  ABFSS,
  /** Google Cloud Storage. */
  GS,
  /** The same service, in a bucket with hierarchical namespace. */
  GS_FOLDERS,
  /** Amazon S3. */
  S3A;

  private static final AtomicInteger ROOTS = new AtomicInteger();

  /** The emulator behind it; {@link #abfs()}, {@link #gcs()} and {@link #s3()} know its kind. */
  public Emulator emulator() {
    return switch (this) {
      case ABFS, ABFSS -> abfs();
      case S3A -> s3();
      default -> gcs();
    };
  }

  /** The emulator behind {@link #ABFS} and {@link #ABFSS}. */
  public static AbfsEmulator abfs() {
    AbfsEmulator abfs = Emulators.started(AbfsEmulator.class, AbfsEmulator::start);
    abfs.trustStore().systemProperties().forEach(System::setProperty);
    return abfs;
  }

  /** The emulator behind {@link #GS}. */
  public static GcsEmulator gcs() {
    return Emulators.started(GcsEmulator.class, GcsEmulator::start);
  }

  /** The emulator behind {@link #S3A}. */
  public static S3Emulator s3() {
    return Emulators.started(S3Emulator.class, S3Emulator::start);
  }

  /** The container or bucket. */
  public URI root() {
    return switch (this) {
      case ABFSS -> abfs().secureRoot();
      case GS_FOLDERS -> gcs().hierarchicalRoot();
      default -> emulator().root();
    };
  }

  /** Makes the connectors of {@code conf} use the emulator. */
  public void configure(Configuration conf) {
    emulator().settings().forEach(conf::set);
  }

  /** Settings of its own for whoever asks. */
  public Configuration conf() {
    return conf(emulator());
  }

  /** The same for an emulator that is not shared. */
  public static Configuration conf(Emulator emulator) {
    Configuration conf = new Configuration();
    emulator.settings().forEach(conf::set);
    return conf;
  }

  /** A path that nobody else uses; nothing is there yet. */
  public Path newRoot(String name) {
    return new Path(new Path(root()), name + "-" + ROOTS.incrementAndGet());
  }

  /**
   * The emulators of this JVM: one of each, started by the first who asks and stopped after the
   * last test. A JVM reads its trust store once, so it can only ever meet one certificate.
   */
  public static final class Emulators implements LauncherSessionListener {
    private static final Map<Class<?>, Emulator> STARTED = new HashMap<>();

    private static synchronized <E extends Emulator> E started(Class<E> kind, Callable<E> start) {
      return kind.cast(
          STARTED.computeIfAbsent(
              kind,
              key -> {
                try {
                  return start.call();
                } catch (Exception e) {
                  throw new IllegalStateException(kind.getSimpleName() + " does not start", e);
                }
              }));
    }

    /**
     * Called by JUnit, which finds this class by its service file. Before any test, because the JVM
     * reads its trust store when the first of them opens a connection, whatever emulator that uses.
     */
    @Override
    public void launcherSessionOpened(LauncherSession session) {
      abfs();
    }

    /** Called by JUnit. */
    @Override
    public void launcherSessionClosed(LauncherSession session) {
      stop();
    }

    /** Stops what was started, and forgets the filesystems that led there. */
    static synchronized void stop() {
      try {
        FileSystem.closeAll();
      } catch (IOException e) {
        throw new UncheckedIOException("A filesystem does not close", e);
      } finally {
        STARTED.values().forEach(Emulator::close);
        STARTED.clear();
      }
    }
  }

  /**
   * Runs something with filesystems that nobody else uses, as settings that are read when a
   * filesystem is opened need it: as a user of its own, whose filesystems are closed afterwards.
   */
  static final class OwnFileSystems {
    private static final AtomicInteger USERS = new AtomicInteger();

    private OwnFileSystems() {}

    /** What {@code action} gives or throws. */
    static <T> T run(PrivilegedExceptionAction<T> action) throws IOException, InterruptedException {
      UserGroupInformation user =
          UserGroupInformation.createUserForTesting(
              "user-" + USERS.incrementAndGet(), new String[] {"users"});
      try {
        return user.doAs(action);
      } finally {
        FileSystem.closeAllForUGI(user);
      }
    }
  }
}
