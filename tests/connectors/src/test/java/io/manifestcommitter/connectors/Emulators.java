// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors;

import io.manifestcommitter.emulator.AbfsEmulator;
import io.manifestcommitter.emulator.GcsEmulator;
import io.manifestcommitter.emulator.S3Emulator;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.fs.FileSystem;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * The emulators of this JVM: one of each, started by the first who asks and stopped after the last
 * test. A JVM reads its trust store once, so it can only ever meet one certificate.
 */
public final class Emulators implements LauncherSessionListener {
  private static AbfsEmulator abfs;
  private static GcsEmulator gcs;
  private static S3Emulator s3;

  static synchronized AbfsEmulator abfs() {
    if (abfs == null) {
      try {
        abfs = AbfsEmulator.start();
      } catch (IOException e) {
        throw new UncheckedIOException("The ADLS Gen2 emulator does not start", e);
      }
      abfs.trustStore().systemProperties().forEach(System::setProperty);
    }
    return abfs;
  }

  static synchronized GcsEmulator gcs() {
    if (gcs == null) {
      try {
        gcs = GcsEmulator.start();
      } catch (IOException e) {
        throw new UncheckedIOException("The Google Cloud Storage emulator does not start", e);
      }
    }
    return gcs;
  }

  static synchronized S3Emulator s3() {
    if (s3 == null) {
      try {
        s3 = S3Emulator.start();
      } catch (IOException e) {
        throw new UncheckedIOException("The S3 emulator does not start", e);
      }
    }
    return s3;
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
      if (abfs != null) {
        abfs.close();
        abfs = null;
      }
      if (gcs != null) {
        gcs.close();
        gcs = null;
      }
      if (s3 != null) {
        s3.close();
        s3 = null;
      }
    }
  }
}
