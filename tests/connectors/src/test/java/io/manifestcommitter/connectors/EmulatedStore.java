// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.emulator.S3Emulator;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

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
    switch (this) {
      case ABFS:
      case ABFSS:
        return abfs();
      case S3A:
        return s3();
      default:
        return gcs();
    }
  }

  /** The emulator behind {@link #ABFS} and {@link #ABFSS}. */
  public static AbfsEmulator abfs() {
    return Emulators.abfs();
  }

  /** The emulator behind {@link #GS}. */
  public static GcsEmulator gcs() {
    return Emulators.gcs();
  }

  /** The emulator behind {@link #S3A}. */
  public static S3Emulator s3() {
    return Emulators.s3();
  }

  /** The container or bucket. */
  public URI root() {
    switch (this) {
      case ABFSS:
        return abfs().secureRoot();
      case GS_FOLDERS:
        return gcs().hierarchicalRoot();
      default:
        return emulator().root();
    }
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
}
