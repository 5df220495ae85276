// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/**
 * Which build of the committer is on the class path. The Python package compares it with its own
 * version.
 */
public final class BuildInfo {
  private static final String RESOURCE = "/META-INF/manifest-committer.properties";

  private BuildInfo() {}

  /**
   * The version of this jar, as its build wrote it.
   *
   * @throws IllegalStateException if the jar lacks its properties file, so was repackaged
   */
  public static String version() {
    try (InputStream in = BuildInfo.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException(
            "The manifest committer's jar has no " + RESOURCE + ": use the jar as it was built");
      }
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("version");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
