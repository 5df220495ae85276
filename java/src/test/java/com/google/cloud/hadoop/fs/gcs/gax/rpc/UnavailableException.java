// SPDX-License-Identifier: Apache-2.0
package com.google.cloud.hadoop.fs.gcs.gax.rpc;

/** As gRPC's clients throw it, which is found by this end of its name: unchecked. */
public final class UnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** One. */
  public UnavailableException() {
    super("io exception");
  }

  /** As gRPC tells what went wrong. */
  public StatusCode getStatusCode() {
    return new StatusCode();
  }

  /** Of gRPC. */
  public static final class StatusCode {
    /** The kind. */
    public Code getCode() {
      return Code.UNAVAILABLE;
    }
  }

  /** Kinds. */
  public enum Code {
    /** Nobody answers. */
    UNAVAILABLE;

    /** What it would be by HTTP. */
    public int getHttpStatusCode() {
      return 503;
    }
  }
}
