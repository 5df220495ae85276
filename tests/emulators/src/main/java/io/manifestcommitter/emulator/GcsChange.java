// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

/** What a PATCH or an update makes of the attributes that are there. */
@FunctionalInterface
interface GcsChange {
  GcsAttributes apply(GcsAttributes present) throws GcsException;
}
