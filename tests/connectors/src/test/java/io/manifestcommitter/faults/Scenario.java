// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

/** A job, and the one of its calls that is put under fault. */
interface Scenario {
  /** For a table and for a case's name: "hadoop-new". */
  String label();

  /** What its requests belong to, up to the rename of {@code _SUCCESS}. */
  Phase phase();

  /** Whether it renames data, so that the answers of a store to that matter. */
  boolean publishes();

  /** One run of it. */
  Trial trial(Lane lane, Repair repair);
}
