// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.Protocol.Operation;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The fault rules of an emulator. A request counts for every rule that it matches; of those that
 * are due, the one that was added first fires.
 */
public final class Faults {
  private final List<FaultRule> rules = new CopyOnWriteArrayList<>();

  Faults() {}

  /** Adds a rule and returns it. */
  public FaultRule add(FaultRule rule) {
    rules.add(rule);
    return rule;
  }

  /** Removes all rules, and lets go on what they hold. */
  public void clear() {
    for (FaultRule rule : rules) {
      rule.release();
    }
    rules.clear();
  }

  /** Waits where a rule holds or stalls requests that are between two steps. */
  void pause(Operation operation) {
    next(operation)
        .ifPresent(
            rule -> {
              try {
                rule.pause();
              } catch (InterruptedException e) {
                // The emulator is closing.
                Thread.currentThread().interrupt();
              }
            });
  }

  /** The rule that fires on this request. */
  Optional<FaultRule> next(Operation operation) {
    FaultRule first = null;
    for (FaultRule rule : rules) {
      if (rule.due(operation) && first == null) {
        first = rule;
      }
    }
    if (first != null) {
      first.fired();
    }
    return Optional.ofNullable(first);
  }
}
