// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

/** How bad a problem is; the worst first. */
enum Severity {
  /** Jobs fail, or commit unsafely, or not with this committer. */
  ERROR,
  /** Jobs work, but not all, or not as well as they could. */
  WARNING,
  /** Worth knowing. */
  NOTE
}
