// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

/** An error of ADLS Gen2, as its REST reference names it. */
final class AbfsFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String code;
  private final String existing;

  private AbfsFailure(int status, String code, String message, String existing) {
    super(message, null, false, false);
    this.status = status;
    this.code = code;
    this.existing = existing;
  }

  AbfsFailure(int status, String code, String message) {
    this(status, code, message, "");
  }

  int status() {
    return status;
  }

  String code() {
    return code;
  }

  /** "file" or "directory" where such a one is in the way; else empty. */
  String existing() {
    return existing;
  }

  static AbfsFailure pathNotFound() {
    return new AbfsFailure(404, "PathNotFound", "The specified path does not exist.");
  }

  static AbfsFailure filesystemNotFound() {
    return new AbfsFailure(404, "FilesystemNotFound", "The specified filesystem does not exist.");
  }

  static AbfsFailure alreadyExists(AbfsNode node) {
    return new AbfsFailure(
        409, "PathAlreadyExists", "The specified path already exists.", node.type());
  }

  /** A file where a directory has to be, or the other way round. */
  static AbfsFailure conflict(AbfsNode node) {
    return new AbfsFailure(
        409,
        "PathConflict",
        "The specified path, or an element of the path, exists and its resource type is invalid"
            + " for this operation.",
        node.type());
  }

  static AbfsFailure conditionNotMet() {
    return new AbfsFailure(
        412, "ConditionNotMet", "The condition specified using HTTP headers is not met.");
  }

  static AbfsFailure invalidFlushPosition() {
    return new AbfsFailure(
        400,
        "InvalidFlushPosition",
        "The uploaded data is not contiguous or the position is not the length of the file after"
            + " it.");
  }
}
