// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

/**
 * The wire protocol of one store, and the store behind it. Knows nothing of faults, latency and
 * logs. Called by many threads at once.
 */
interface Protocol {
  /** What the request asks for. Changes nothing. */
  Operation classify(Call call);

  /** Does what the request asks for. Anything it does not know is an error reply that says so. */
  Reply answer(Call call);

  /**
   * An error as this store words it, for a fault.
   *
   * @param status the HTTP status: 503, 429, 500, 404, 409, ...
   * @param code the store's own name for the error; empty for the usual one of that status
   */
  Reply refusal(Call call, int status, String code);

  /**
   * What a request asks for, in the protocol's own terms: what faults and counts are keyed on.
   *
   * @param name lower case: "rename", "list", "move"
   * @param path decoded, from the root of the container or bucket, with a leading slash; of a
   *     rename or move the destination
   */
  record Operation(String name, String path) {
    @Override
    public String toString() {
      return name + " " + path;
    }
  }
}
