// SPDX-License-Identifier: Apache-2.0
/**
 * In-memory servers that speak the protocols of ADLS Gen2, Google Cloud Storage, S3 and lakeFS as
 * far as Hadoop's connectors and this committer use them, with faults that are asked for by rule.
 * For tests and for trying a store without an account; never for data.
 */
package io.manifestcommitter.emulator;
