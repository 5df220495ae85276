// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import io.manifestcommitter.emulator.Door;
import io.manifestcommitter.emulator.FaultRule;
import io.manifestcommitter.emulator.FaultRule.When;
import java.util.ArrayList;
import java.util.List;

/** What happens to a process at its n-th request. */
enum Trouble {
  /** An error, and nothing done. Made again, the request succeeds. */
  FAILS,
  /** The same as often as it is made again. */
  FAILS_OFTEN,
  /** Done, and answered with an error. */
  ANSWER_IS_ERROR,
  /** Done, and the connection dropped. */
  ANSWER_IS_LOST,
  /** The same, and what follows fails for a while. */
  ANSWER_IS_LOST_AND_MORE,
  /** The process dies before. */
  DIES_BEFORE,
  /** It dies when it is done. */
  DIES_AFTER;

  /** More than any request is made again. */
  private static final int OFTEN = 6;

  private static final int ERROR = 500;

  boolean isDeath() {
    return this == DIES_BEFORE || this == DIES_AFTER;
  }

  /** Whether more goes wrong than one request: then a job that succeeds may leave its branches. */
  boolean lasts() {
    return isDeath() || this == FAILS_OFTEN || this == ANSWER_IS_LOST_AND_MORE;
  }

  /** Sets it up; the first of the rules is the one that fires at the request. */
  List<FaultRule> at(Door door, int number) {
    When when = FaultRule.on(FaultRule.ANY).call(number);
    When next = FaultRule.on(FaultRule.ANY).call(number + 1);
    List<FaultRule> rules = new ArrayList<>();
    switch (this) {
      case FAILS -> rules.add(when.refuse(ERROR));
      case FAILS_OFTEN -> rules.add(when.times(OFTEN).refuse(ERROR));
      case ANSWER_IS_ERROR -> rules.add(when.applyThenFail(ERROR));
      case ANSWER_IS_LOST -> rules.add(when.applyThenDrop());
      case ANSWER_IS_LOST_AND_MORE -> {
        rules.add(when.applyThenDrop());
        rules.add(next.times(OFTEN).refuse(ERROR));
      }
      case DIES_BEFORE -> rules.add(when.always().drop());
      case DIES_AFTER -> {
        rules.add(when.applyThenDrop());
        rules.add(next.always().drop());
      }
    }
    rules.forEach(door.faults()::add);
    return rules;
  }
}
