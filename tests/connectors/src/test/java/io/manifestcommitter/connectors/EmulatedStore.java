package io.manifestcommitter.connectors;

import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.Emulator;
import io.manifestcommitter.emulator.GcsEmulator;
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
  GS_FOLDERS;

  private static final AtomicInteger ROOTS = new AtomicInteger();

  /** The emulator behind it; {@link #abfs()} and {@link #gcs()} know its kind. */
  public Emulator emulator() {
    return this == ABFS || this == ABFSS ? abfs() : gcs();
  }

  /** The emulator behind {@link #ABFS} and {@link #ABFSS}. */
  public static AbfsEmulator abfs() {
    return Emulators.abfs();
  }

  /** The emulator behind {@link #GS}. */
  public static GcsEmulator gcs() {
    return Emulators.gcs();
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
    Configuration conf = new Configuration();
    configure(conf);
    return conf;
  }

  /** A path that nobody else uses; nothing is there yet. */
  public Path newRoot(String name) {
    return new Path(new Path(root()), name + "-" + ROOTS.incrementAndGet());
  }
}
