// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

/** An error as lakeFS answers it: a status, and a message in JSON. */
final class LakefsException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;

  LakefsException(int status, String message) {
    super(message, null, false, false);
    this.status = status;
  }

  /** 400: what was sent is wrong, or does not fit the state. */
  static LakefsException invalid(String message) {
    return new LakefsException(400, message);
  }

  /** 404 for a repository, branch, reference or object. */
  static LakefsException missing(String what) {
    return new LakefsException(404, what + " not found");
  }

  /** 412: {@code If-None-Match: *} on a path that is there. */
  static LakefsException exists() {
    return new LakefsException(412, "path already exists");
  }

  /** 501: lakeFS may know it, this emulator does not. */
  static LakefsException unknown(String what) {
    return new LakefsException(501, "This emulator does not know " + what);
  }

  /**
   * An error for a fault.
   *
   * @param operation what hooks are named after
   * @param message empty for the usual one of the status
   */
  static LakefsException of(int status, String operation, String message) {
    return new LakefsException(status, message.isEmpty() ? usual(status, operation) : message);
  }

  private static String usual(int status, String operation) {
    return switch (status) {
      case 401 -> "error authenticating request";
      case 403 -> "cannot write to protected branch";
      case 404 -> "not found";
      case 410 -> "repository in deletion";
      case 412 -> "pre-" + operation + " hook aborted, run id 'emulated': refused on purpose";
      case 429 -> "Too many attempts, try again later";
      case 500 -> "branch is currently locked, try again later";
      case 503 -> "Throughput exceeded. Slow down and retry";
      default -> "Refused on purpose";
    };
  }

  int status() {
    return status;
  }

  Reply reply() {
    return LakefsRequest.json(status, LakefsRequest.object().put("message", getMessage()));
  }
}
