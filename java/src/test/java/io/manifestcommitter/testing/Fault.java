// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

/** Decides about the requests that a store gets. Called under the store's lock. */
@FunctionalInterface
public interface Fault {
  /** All goes well. */
  Fault NONE = (number, operation, path) -> Fate.NORMAL;

  /**
   * What happens to a request.
   *
   * @param number from 1
   * @param path without scheme; a rename's source
   */
  Fate fate(int number, String operation, String path);

  /** One request goes wrong, and those after it go well. */
  static Fault at(int at, Fate fate) {
    return (number, operation, path) -> number == at ? fate : Fate.NORMAL;
  }

  /** One request goes wrong, and no later one is done: the store is down, or its client dead. */
  static Fault deadFrom(int at, Fate fate) {
    return (number, operation, path) ->
        number < at ? Fate.NORMAL : number == at ? fate : Fate.FAILS_BEFORE;
  }

  /** Requests of one operation go wrong, each time. */
  static Fault on(String wrong, Fate fate, Predicate<String> paths) {
    return (number, operation, path) ->
        operation.equals(wrong) && paths.test(path) ? fate : Fate.NORMAL;
  }

  /** The first request of an operation at such a path is not done, and no later one. */
  static Fault deadFrom(String last, Predicate<String> paths) {
    AtomicBoolean isDead = new AtomicBoolean();
    return (number, operation, path) -> {
      if (operation.equals(last) && paths.test(path)) {
        isDead.set(true);
      }
      return isDead.get() ? Fate.FAILS_BEFORE : Fate.NORMAL;
    };
  }

  /** The first request of an operation at such a path is done and answered, and no later one. */
  static Fault deadAfter(String last, Predicate<String> paths) {
    AtomicBoolean isDead = new AtomicBoolean();
    return (number, operation, path) -> {
      Fate fate = isDead.get() ? Fate.FAILS_BEFORE : Fate.NORMAL;
      if (operation.equals(last) && paths.test(path)) {
        isDead.set(true);
      }
      return fate;
    };
  }
}
