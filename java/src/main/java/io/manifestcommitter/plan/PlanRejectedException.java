// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.plan;

import java.io.IOException;

/** What the tasks committed cannot be published as it stands. Nothing has become visible. */
public final class PlanRejectedException extends IOException {
  private static final long serialVersionUID = 1L;

  /** A rejection that names what contradicts what, and what to do. */
  public PlanRejectedException(String message) {
    super(message + " Nothing was published.");
  }

  /** A rejection of what one file says. */
  public PlanRejectedException(String file, PlanRejectedException cause) {
    super(file + " cannot be used: " + cause.getMessage() + " Run the job again.", cause);
  }
}
