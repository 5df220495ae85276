package io.manifestcommitter.bench;

/** The writes that are measured. */
enum SparkWriteKind {
  NEW("new partitions"),
  APPEND("append to partitions that exist"),
  DYNAMIC("dynamic partition overwrite"),
  STATIC("static overwrite of the table");

  private final String title;

  SparkWriteKind(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }

  /** Whether the partitions that are written to exist, with as many old files as come new ones. */
  boolean onOldData() {
    return this != NEW;
  }

  /** Whether the old files in the partitions that are written to are then gone. */
  boolean replacesPartitions() {
    return this == DYNAMIC || this == STATIC;
  }

  /** Whether the old files of other partitions are then gone, too. */
  boolean replacesTable() {
    return this == STATIC;
  }
}
