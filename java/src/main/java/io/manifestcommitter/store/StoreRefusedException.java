// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.IOException;

/** A store refused a request for longer than the committer was to wait. Nothing was done by it. */
public final class StoreRefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  StoreRefusedException(String message, IOException cause) {
    super(message, cause);
  }
}
