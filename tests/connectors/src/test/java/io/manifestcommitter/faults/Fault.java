// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import io.manifestcommitter.emulator.FaultRule;
import java.time.Duration;
import java.util.Set;

/** What goes wrong with one request, or from one request on. */
enum Fault {
  BUSY_503("503"),
  BUSY_503_LONGER("503, longer than the driver retries"),
  BUSY_503_SUSTAINED("503, sustained"),
  BUSY_429("429"),
  BUSY_429_LONGER("429, longer than the driver retries"),
  BUSY_429_SUSTAINED("429, sustained"),
  ERROR_500("500"),
  ERROR_500_LONGER("500, longer than the driver retries"),
  ERROR_500_SUSTAINED("500, sustained"),
  DONE_500("done, answered 500"),
  DONE_DROPPED("done, connection dropped"),
  DONE_STALLED("done, answered after the client's patience"),
  DROPPED("connection dropped"),
  PARENT_NOT_FOUND("404 RenameDestinationParentPathNotFound"),
  CONFLICT("409"),
  PRECONDITION("412"),
  NOT_THE_STORE("done, and answered 502 by something else"),
  DONE_404("done, answered 404"),
  DONE_412("done, answered 412"),
  ERROR_200("200 with an error in it"),
  DONE_ERROR_200("done, answered 200 with an error in it");

  /** Requests that change nothing: done or not is the same to them. */
  private static final Set<String> READS =
      Set.of(
          "acl",
          "bucket",
          "filesystem",
          "folder-get",
          "folder-list",
          "get",
          "head",
          "layout",
          "list",
          "list-uploads",
          "operation",
          "operation-list",
          "read",
          "status");

  private final String text;

  Fault(String text) {
    this.text = text;
  }

  /** Whether it is known of this kind of request to this store. */
  boolean concerns(StoreUnderTest store, String operation) {
    boolean publishes = operation.equals(store.publishOperation());
    switch (this) {
      case DONE_500:
      case DONE_DROPPED:
        return !READS.contains(operation);
      case DONE_STALLED:
        return store.hasShortReadTimeout();
      case PARENT_NOT_FOUND:
      case CONFLICT:
        return publishes && store == StoreUnderTest.ABFS;
      case PRECONDITION:
      case DONE_412:
        return publishes && store.isGoogles();
      case NOT_THE_STORE:
        return store.isGoogles();
      case ERROR_200:
      case DONE_ERROR_200:
        return publishes && store == StoreUnderTest.S3A;
      case DONE_404:
        return publishes || operation.equals("folder-rename") || operation.endsWith("delete");
      default:
        return true;
    }
  }

  /** Whether the store asks for fewer requests, until the call ends. */
  boolean isBusySustained() {
    return this == BUSY_503_SUSTAINED || this == BUSY_429_SUSTAINED;
  }

  /** The rule that makes it happen to the n-th request of an operation. */
  FaultRule rule(StoreUnderTest store, String operation, int n) {
    FaultRule.When when = FaultRule.on(operation).call(n);
    int longer = store.tries() + 1;
    switch (this) {
      case BUSY_503:
        return when.refuse(503);
      case BUSY_503_LONGER:
        return when.times(longer).refuse(503);
      case BUSY_503_SUSTAINED:
        return when.always().refuse(503);
      case BUSY_429:
        return when.refuse(429);
      case BUSY_429_LONGER:
        return when.times(longer).refuse(429);
      case BUSY_429_SUSTAINED:
        return when.always().refuse(429);
      case ERROR_500:
        return when.refuse(500);
      case ERROR_500_LONGER:
        return when.times(longer).refuse(500);
      case ERROR_500_SUSTAINED:
        return when.always().refuse(500);
      case DONE_500:
        return when.applyThenFail(500);
      case DONE_DROPPED:
        return when.applyThenDrop();
      case DONE_STALLED:
        return when.applyThenStall(Duration.ofMillis(StoreUnderTest.SHORT_READ_TIMEOUT * 3 / 2));
      case DROPPED:
        return when.drop();
      case PARENT_NOT_FOUND:
        return when.refuse(404, "RenameDestinationParentPathNotFound");
      case CONFLICT:
        return when.refuse(409);
      case PRECONDITION:
        return when.refuse(412);
      case NOT_THE_STORE:
        return when.applyThenFail(502, FaultRule.NOT_THE_STORE);
      case DONE_404:
        return when.applyThenFail(404);
      case DONE_412:
        return when.applyThenFail(412);
      case ERROR_200:
        return when.refuse(200, "InternalError");
      case DONE_ERROR_200:
        return when.applyThenFail(200, "InternalError");
    }
    throw new IllegalStateException(name());
  }

  @Override
  public String toString() {
    return text;
  }
}
