// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class RateLimitTest {
  private final AtomicLong now = new AtomicLong();

  @Test
  void burstIsATenthOfASecondsWorth() {
    assertThat(admitted(new RateLimit(100, 503, now::get), 50)).isEqualTo(10);
  }

  @Test
  void slowLimitAdmitsAtLeastOne() {
    assertThat(admitted(new RateLimit(1, 503, now::get), 5)).isEqualTo(1);
  }

  @Test
  void admitsTheRateHoweverManyAsk() {
    RateLimit limit = new RateLimit(100, 503, now::get);
    admitted(limit, 10);
    int admitted = 0;
    for (int millisecond = 0; millisecond < 10_000; millisecond++) {
      now.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
      admitted += admitted(limit, 5);
    }
    // Refused requests took nothing: ten seconds' worth, but for rounding.
    assertThat(admitted).isBetween(999, 1000);
  }

  @Test
  void idleTimeIsNotSaved() {
    RateLimit limit = new RateLimit(100, 503, now::get);
    now.addAndGet(TimeUnit.HOURS.toNanos(1));
    assertThat(admitted(limit, 50)).isEqualTo(10);
  }

  @Test
  void rateMustBePositive() {
    assertThatThrownBy(() -> new RateLimit(-1, 503, now::get))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1");
  }

  private static int admitted(RateLimit limit, int asked) {
    int admitted = 0;
    for (int i = 0; i < asked; i++) {
      admitted += limit.admit() ? 1 : 0;
    }
    return admitted;
  }
}
