// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

/** How Google's connector creates an object. */
public final class CreateObjectOptions {
  /** In the place of another one, too. */
  public static final CreateObjectOptions DEFAULT_OVERWRITE = new CreateObjectOptions();

  private CreateObjectOptions() {}
}
