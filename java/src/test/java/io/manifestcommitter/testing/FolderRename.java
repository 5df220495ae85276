// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.IOException;

/**
 * The rename of a folder, as an operation that the store carries on with by itself, whoever asked
 * for it: until then both folders are locked, and all is as before. Not changed.
 */
public final class FolderRename {
  /** How often a driver makes a request again that was refused for a while. */
  static final int MOST_REPETITIONS = 10;

  private static final int SLOWEST = 3;
  private static final int TOO_MANY_REQUESTS = 429;

  private final String source;
  private final String destination;
  private final int requestsLeft;

  /**
   * How slow it is depends on its names only, without the numbers that recoveries draw: each run of
   * a case has the same.
   */
  FolderRename(String source, String destination) {
    this(
        source,
        destination,
        Math.floorMod(
            source.replaceAll("/00/old/[1-9][0-9]*|/sealed-[0-9]+", "").hashCode(), SLOWEST + 1));
  }

  /** One that takes so many further requests of whomever. */
  FolderRename(String source, String destination, int requestsLeft) {
    this.source = source;
    this.destination = destination;
    this.requestsLeft = requestsLeft;
  }

  /** The same after one more request to the store. */
  FolderRename later() {
    return new FolderRename(source, destination, requestsLeft - 1);
  }

  boolean isDone() {
    return requestsLeft == 0;
  }

  String source() {
    return source;
  }

  String destination() {
    return destination;
  }

  void requireFree(String path) throws IOException {
    if (isAt(path, source) || isAt(path, destination)) {
      throw new Locked(path, this);
    }
  }

  /** For a request that changes all that is below a path. */
  void requireFreeTree(String path) throws IOException {
    requireFree(path);
    if (isAt(source, path) || isAt(destination, path)) {
      throw new Locked(path, this);
    }
  }

  private static boolean isAt(String path, String end) {
    return (path + "/").startsWith(end + "/");
  }

  @Override
  public String toString() {
    return source + " -> " + destination + ", " + requestsLeft + " requests left";
  }

  /** An answer with a status, as Google's client throws it. */
  public static class Answer extends IOException {
    private static final long serialVersionUID = 1L;

    private final int status;

    Answer(int status, String message) {
      super(status + " " + message);
      this.status = status;
    }

    /** As the exceptions of Google's client have it. */
    public int getStatusCode() {
      return status;
    }
  }

  /** Nobody writes there now. */
  static final class Locked extends Answer {
    private static final long serialVersionUID = 1L;

    private Locked(String path, FolderRename rename) {
      super(TOO_MANY_REQUESTS, path + " is locked by the rename " + rename);
    }
  }
}
