// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

/**
 * How a rename onto an existing directory is answered. What ADLS Gen2 does is not proven without an
 * account, so a client must be safe with every one of these.
 */
public enum Onto {
  /** The source goes into the directory, under its own name. */
  NESTS,
  /** 409 PathAlreadyExists. */
  CONFLICT,
  /** A directory replaces an empty one; otherwise 409 PathAlreadyExists. */
  REPLACES_IF_EMPTY
}
