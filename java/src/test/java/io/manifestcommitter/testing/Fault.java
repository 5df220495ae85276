// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
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

  /** The first request of an operation at such a path goes wrong, and those after it go well. */
  static Fault first(String wrong, Fate fate, Predicate<String> paths) {
    AtomicBoolean isOver = new AtomicBoolean();
    return on(wrong, fate, path -> paths.test(path) && !isOver.getAndSet(true));
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

  /** How a store fails at one request, and what becomes of the requests after it. */
  public record Trouble(int number, Fate fate, Afterwards afterwards) {
    /** The requests after the one that failed. */
    public enum Afterwards {
      /** They succeed. */
      ALL_WELL,
      /** The same request fails whenever it is made again, in the same way. */
      SAME_REQUEST_FAILS,
      /** None is answered: the store, or the process that asks it, is dead. */
      DEAD
    }

    /**
     * Every way to fail at one request.
     *
     * @param number the request's, from 1
     * @param request as {@link MemoryStoreState#requests} shows it
     */
    public static List<Trouble> at(int number, String request) {
      List<Trouble> all = new ArrayList<>();
      Set<Fate> fates = fates(request.substring(0, request.indexOf(' ')));
      for (Fate fate : fates) {
        for (Afterwards afterwards : Afterwards.values()) {
          all.add(new Trouble(number, fate, afterwards));
        }
      }
      Afterwards afterwards = Afterwards.values()[number % Afterwards.values().length];
      for (Fate error : Fate.ERRORS) {
        if (fates.contains(error.effect()) && error.isTriedAt(number)) {
          all.add(new Trouble(number, error, afterwards));
        }
      }
      return all;
    }

    /** The process is killed between a request and its answer. */
    public static Trouble killedAfter(int number) {
      return new Trouble(number, Fate.FAILS_AFTER, Afterwards.DEAD);
    }

    /** The ways to fail that differ for an operation. */
    private static Set<Fate> fates(String operation) {
      return switch (operation) {
        case "rename", "copy-part", "copy", "copy-delete" ->
            EnumSet.of(
                Fate.FAILS_BEFORE, Fate.FAILS_AFTER, Fate.ANSWERS_FALSE, Fate.DONE_ANSWERS_FALSE);
        case "write", "delete" -> EnumSet.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER, Fate.HALF_DONE);
        case "create", "mkdirs" -> EnumSet.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER);
        default -> EnumSet.of(Fate.FAILS_BEFORE);
      };
    }

    /** For {@link MemoryStoreState#onRequest}; of one use. */
    public Fault fault() {
      return new Fault() {
        private String failed;

        @Override
        public Fate fate(int now, String operation, String path) {
          String request = operation + " " + path;
          if (now == number) {
            failed = request;
            return fate;
          }
          if (now < number || afterwards == Afterwards.ALL_WELL) {
            return Fate.NORMAL;
          }
          if (afterwards == Afterwards.DEAD) {
            return Fate.FAILS_BEFORE;
          }
          return request.equals(failed) ? fate : Fate.NORMAL;
        }
      };
    }

    @Override
    public String toString() {
      return fate + "-then-" + afterwards;
    }
  }
}
