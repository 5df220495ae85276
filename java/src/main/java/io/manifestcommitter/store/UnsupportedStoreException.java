// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;

/**
 * The store cannot be committed to safely by this committer; the message says what to use instead.
 */
public final class UnsupportedStoreException extends IOException {
  private static final long serialVersionUID = 1L;

  /** A refusal with its reason and the next thing to do. */
  public UnsupportedStoreException(String message) {
    super(message);
  }
}
