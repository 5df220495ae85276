// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.trials;

import io.manifestcommitter.testing.CaseTally;
import io.manifestcommitter.testing.Cases;
import java.util.Locale;

/** Counts what was tried after drivers died. */
final class CrashTally extends CaseTally<CrashTally.Count> {
  CrashTally(Cases cases) {
    super(cases, Count.class, "scenario", "store");
  }

  /** What is counted. */
  enum Count {
    /** Drivers that died in a job commit. */
    DIED,
    /** Different stores that they left. */
    STATES,
    RECOVER,
    COMPLETE,
    /** Recoveries that died, each followed by another one. */
    DIED_IN_RECOVERY,
    RECOVER_AGAIN,
    RUN_AGAIN,
    /** The same within a minute, while the dead one's heartbeat may be fresh. */
    RESTARTED,
    /** Recoveries and second runs of a table that was renamed after the death. */
    RENAMED,
    OTHER_JOB_THEN_RECOVER,
    /** Drivers that lived on when the store had no room any more. */
    MET_SHORTAGE,
    /** Cleanings while the store had no room. */
    CLEANED,
    OLD,
    NEW,
    REFUSED
  }

  /** Runs of which something that dies, or what comes after it, was checked. */
  int runs() {
    return sum(Count.DIED)
        + sum(Count.RECOVER)
        + sum(Count.COMPLETE)
        + sum(Count.DIED_IN_RECOVERY)
        + sum(Count.RECOVER_AGAIN)
        + sum(Count.RUN_AGAIN)
        + sum(Count.RESTARTED)
        + sum(Count.RENAMED)
        + sum(Count.OTHER_JOB_THEN_RECOVER)
        + sum(Count.MET_SHORTAGE)
        + sum(Count.CLEANED);
  }

  /** Processes that died at a request. */
  int injected() {
    return sum(Count.DIED) + sum(Count.DIED_IN_RECOVERY);
  }

  @Override
  protected String summary() {
    return String.format(Locale.ROOT, "Crashes: %,d processes died, %,d runs", injected(), runs());
  }
}
