// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

/** What a table holds after a job. */
enum GrowthData {
  OLD,
  NEW
}
