// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * Another job changed a place in a table between a commit that was cut short and its recovery.
 * Neither the old data nor the new can be put there without loss or doubling.
 */
public final class PlaceChangedException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * At one place.
   *
   * @param jobId of the commit that was cut short
   * @param sign by what it was seen
   * @param old where the old data is, if the place had any
   */
  public PlaceChangedException(String jobId, Path place, String sign, Optional<Path> old) {
    super(
        place
            + " was changed since job "
            + jobId
            + " was cut short: "
            + sign
            + ". Nothing was touched there. "
            + old.map(
                    aside ->
                        "If what is there now is right, delete the old data in "
                            + aside
                            + " and recover the job again. If the old data is right, move away what"
                            + " is there, and recover the job again")
                .orElse("Roll the job back instead: what is there stays"));
  }
}
