// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MemoryBudgetTest {
  private final MemoryBudget budget = new MemoryBudget(100);

  @Test
  void nobodyHoldsMoreThanThereIs() throws Exception {
    AtomicLong held = new AtomicLong();
    AtomicLong most = new AtomicLong();
    Thread[] threads = new Thread[8];
    for (int i = 0; i < threads.length; i++) {
      threads[i] =
          new Thread(
              () -> {
                for (int round = 0; round < 1000; round++) {
                  budget.take(40);
                  most.accumulateAndGet(held.addAndGet(40), Math::max);
                  held.addAndGet(-40);
                  budget.release(40);
                }
              });
      threads[i].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(most.get()).isBetween(40L, 80L);
  }

  @Test
  void oneThatIsTooLargeGoesAlone() throws Exception {
    CountDownLatch through = new CountDownLatch(1);
    budget.take(1_000);
    Thread other =
        new Thread(
            () -> {
              budget.take(1);
              through.countDown();
            });
    other.start();
    assertThat(through.getCount()).isOne();
    budget.release(1_000);
    through.await();
    other.join();
  }

  @Test
  void afterItIsLiftedNobodyWaits() throws Exception {
    budget.take(100);
    Thread other = new Thread(() -> budget.take(100));
    other.start();
    budget.lift();
    other.join();
    budget.take(100);
  }
}
