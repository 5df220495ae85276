// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.store.FolderClock;
import io.manifestcommitter.testing.Cases;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A driver that lives, and is taken for dead right before one of its requests: its commit is taken
 * over then, wholly or in part, and it goes on. Every request of the driver, every way to take
 * over, and requests of who does that. A sample by default; {@code -Dtakeovers.mode=full} runs all.
 */
@Tag("sample")
class TakeoverTest {
  private static final List<String> STORES =
      List.of("abfs", "abfs/off", "hdfs", "gs", "gs-folders", "gs-folders/off", "s3a");
  private static final List<String> KINDS =
      List.of(
          "append",
          "append-flat",
          "static",
          "static-flat",
          "dynamic",
          "partition",
          "static-same-flat",
          "dynamic-same");

  /** Where no directory is renamed, few cases show that a driver is kept from going on. */
  private static final String ALWAYS = "gs/append-flat/[0-9]+/RECOVER/[0-9]+/HALTS";

  private final Cases cases = Cases.fromProperties("takeovers");
  private final List<String> violations = new ArrayList<>();
  private int runs;

  @BeforeAll
  static void passWithoutPauses() {
    FolderClock.passWithoutPauses();
  }

  @Test
  void theTableIsOldOrNewWhoeverGoesOn() throws Exception {
    for (String store : STORES) {
      for (String kind : KINDS) {
        String steps = store + "/" + kind;
        // An upload takes the place of an old file of its name, which Spark never gives.
        if (cases.begins(steps, 1) && !steps.matches("s3a/.*-same.*")) {
          run(steps, store, kind);
        }
      }
    }
    System.out.printf("%d takeovers (%s), %d violations%n", runs, cases, violations.size());
    assertThat(violations.subList(0, Math.min(30, violations.size()))).isEmpty();
  }

  private void run(String steps, String store, String kind) throws Exception {
    boolean goesOn = true;
    for (int at = 1; goesOn; at++) {
      goesOn = false;
      for (Takeover.Way way : Takeover.Way.values()) {
        String wayed = steps + "/" + at + "/" + way;
        boolean reached = true;
        if (cases.runs(wayed + "/whole", 60)) {
          goesOn |= one(wayed + "/whole", store, kind, at, way, 0, Takeover.Then.WHOLE);
          goesOn |= one(wayed + "/late", store, kind, at, way, 0, Takeover.Then.LATE);
        } else {
          goesOn |= at < 12;
        }
        for (int until = 1; reached && until < 300; until++) {
          reached = cases.isNamed() ? until < 120 : reached;
          for (Takeover.Then then : Takeover.Then.values()) {
            if (then.isPart()) {
              String name = wayed + "/" + until + "/" + then;
              if (cases.runs(name, cases.isSample() && name.matches(ALWAYS) ? 1 : 10_000)) {
                reached &= one(name, store, kind, at, way, until, then);
              }
            }
          }
        }
      }
      goesOn |= at < 40 && !cases.isFull();
    }
  }

  private boolean one(
      String steps,
      String store,
      String kind,
      int at,
      Takeover.Way way,
      int until,
      Takeover.Then then)
      throws Exception {
    Takeover takeover = new Takeover(store, kind, at, way, until, then);
    boolean reached;
    try {
      takeover.run();
      reached = takeover.isReached();
    } catch (IOException | RuntimeException e) {
      violations.add(steps + ": " + e);
      return true;
    }
    if (reached) {
      runs++;
    }
    if (reached) {
      takeover.violation().ifPresent(what -> violations.add(steps + " " + takeover + ": " + what));
    }
    return reached;
  }
}
