// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** How a store fails at one request, and what becomes of the requests after it. */
public final class Trouble {
  /** The requests after the one that failed. */
  public enum Afterwards {
    /** They succeed. */
    ALL_WELL,
    /** The same request fails whenever it is made again, in the same way. */
    SAME_REQUEST_FAILS,
    /** None is answered: the store, or the process that asks it, is dead. */
    DEAD
  }

  private final int number;
  private final Fate fate;
  private final Afterwards afterwards;

  private Trouble(int number, Fate fate, Afterwards afterwards) {
    this.number = number;
    this.fate = fate;
    this.afterwards = afterwards;
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

  /** The process is killed before a request. */
  public static Trouble killedBefore(int number) {
    return new Trouble(number, Fate.FAILS_BEFORE, Afterwards.DEAD);
  }

  /** The process is killed between a request and its answer. */
  public static Trouble killedAfter(int number) {
    return new Trouble(number, Fate.FAILS_AFTER, Afterwards.DEAD);
  }

  /** The ways to fail that differ for an operation. */
  private static Set<Fate> fates(String operation) {
    switch (operation) {
      case "rename":
      case "copy-part":
      case "copy":
      case "copy-delete":
        return EnumSet.of(
            Fate.FAILS_BEFORE, Fate.FAILS_AFTER, Fate.ANSWERS_FALSE, Fate.DONE_ANSWERS_FALSE);
      case "write":
      case "delete":
        return EnumSet.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER, Fate.HALF_DONE);
      case "create":
      case "mkdirs":
        return EnumSet.of(Fate.FAILS_BEFORE, Fate.FAILS_AFTER);
      default:
        return EnumSet.of(Fate.FAILS_BEFORE);
    }
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
    return "request " + number + " " + fate + ", then " + afterwards;
  }
}
