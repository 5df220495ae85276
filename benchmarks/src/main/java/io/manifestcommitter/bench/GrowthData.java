package io.manifestcommitter.bench;

/** What a table holds after a job. */
enum GrowthData {
  OLD,
  NEW
}
