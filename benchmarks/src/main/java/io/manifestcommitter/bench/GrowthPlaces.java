// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

/** Where a job writes to. */
enum GrowthPlaces {
  NEW("new partitions"),
  REPLACED("replaced partitions"),
  LOCATIONS("replaced custom locations");

  private final String title;

  GrowthPlaces(String title) {
    this.title = title;
  }

  /** What they are, for people. */
  String title() {
    return title;
  }
}
