// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.layout;

/**
 * The names of files and directories that a reader of a table does not see: the rule by which Spark
 * lists one ({@code HadoopFSUtils}). A partition's name holds an equals sign, so {@code _p=1} is
 * seen; {@code .p=1} is not.
 *
 * <p>Spark lists Parquet's summaries ({@code _metadata}) and finds no rows in them: they count as
 * hidden here.
 */
public final class HiddenNames {
  private static final String BEING_COPIED = "._COPYING_";

  private HiddenNames() {}

  /** Whether a reader passes over an entry of this name. */
  public static boolean isHidden(String name) {
    return (name.startsWith("_") && name.indexOf('=') < 0)
        || name.startsWith(".")
        || name.endsWith(BEING_COPIED);
  }
}
