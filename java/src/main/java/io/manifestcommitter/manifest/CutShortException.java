// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

/** A file that ends before its end: whoever wrote it died, or has not finished. */
public final class CutShortException extends CorruptManifestException {
  private static final long serialVersionUID = 1L;

  /** What is said of a file that cannot be used because it is cut short. */
  CutShortException(CorruptManifestException corrupt) {
    super(corrupt.getMessage(), corrupt.getCause());
  }
}
