// SPDX-License-Identifier: Apache-2.0
/**
 * In-memory servers that speak the protocols of ADLS Gen2 and Google Cloud Storage as far as
 * Hadoop's connectors use them, with faults that are asked for by rule. For tests and for trying a
 * store without an account; never for data.
 */
package io.manifestcommitter.emulator;
