// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.testing.TableWrite;

/** The writes that are measured. */
enum SparkWriteKind {
  NEW("new partitions", "append"),
  APPEND("append to partitions that exist", "append"),
  DYNAMIC("dynamic partition overwrite", "dynamic"),
  STATIC("static overwrite of the table", "static");

  private final String title;
  private final String kind;

  SparkWriteKind(String title, String kind) {
    this.title = title;
    this.kind = kind;
  }

  String title() {
    return title;
  }

  /** Whether the partitions that are written to exist, with as many old files as come new ones. */
  boolean onOldData() {
    return this != NEW;
  }

  /** What it does to a table that is "". */
  TableWrite write() {
    return TableWrite.of(kind, "");
  }
}
