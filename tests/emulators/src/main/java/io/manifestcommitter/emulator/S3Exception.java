// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

/** An error as S3 words it: a status and a code in a body of XML. */
final class S3Exception extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String code;

  S3Exception(int status, String code, String message) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** 400: what was sent is wrong. */
  static S3Exception invalid(String message) {
    return new S3Exception(400, "InvalidArgument", message);
  }

  /** 501: S3 may know it, this emulator does not. */
  static S3Exception unknown(String message) {
    return new S3Exception(501, "NotImplemented", "This emulator does not know " + message);
  }

  /** 404 for an object. */
  static S3Exception noKey(String key) {
    return new S3Exception(404, "NoSuchKey", "The specified key does not exist: " + key);
  }

  /** 404 for an upload that was never begun, or is completed or aborted. */
  static S3Exception noUpload(String id) {
    return new S3Exception(
        404,
        "NoSuchUpload",
        "The specified upload does not exist. The upload ID may be invalid, or the upload may have"
            + " been aborted or completed: "
            + id);
  }

  /** 412: the condition of that name does not hold. */
  static S3Exception conditionNotMet(String condition) {
    return new S3Exception(
        412,
        "PreconditionFailed",
        "At least one of the pre-conditions you specified did not hold: " + condition);
  }

  /**
   * An error for a fault.
   *
   * @param code empty for the usual one of the status
   */
  static S3Exception of(int status, String code) {
    return new S3Exception(status, code.isEmpty() ? usual(status) : code, "Refused on purpose");
  }

  private static String usual(int status) {
    return switch (status) {
      case 400 -> "InvalidRequest";
      case 403 -> "AccessDenied";
      case 404 -> "NoSuchKey";
      case 409 -> "OperationAborted";
      case 412 -> "PreconditionFailed";
      case 416 -> "InvalidRange";
      case 429 -> "TooManyRequests";
      case 503 -> "SlowDown";
      default -> "InternalError";
    };
  }

  /** The response; that to 304 has no body. */
  Reply reply() {
    return status == 304
        ? new Reply(status)
        : S3Xml.document("Error").text("Code", code).text("Message", getMessage()).reply(status);
  }
}
