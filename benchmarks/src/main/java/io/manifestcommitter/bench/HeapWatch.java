// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/**
 * Notes the most that any garbage collection left in the heap. Small collections leave garbage too,
 * so this is more than what is in use.
 */
final class HeapWatch {
  private final AtomicLong most = new AtomicLong();
  private final Set<String> heapPools = new HashSet<>();

  /** Watches from now on. */
  void start() {
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (pool.getType() == MemoryType.HEAP) {
        heapPools.add(pool.getName());
      }
    }
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      ((NotificationEmitter) collector).addNotificationListener(this::collected, null, null);
    }
  }

  /** The most that was left, in bytes. */
  long mostLeft() {
    return most.get();
  }

  private void collected(Notification notification, Object unused) {
    if (!notification
        .getType()
        .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
      return;
    }
    long left =
        GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData())
            .getGcInfo()
            .getMemoryUsageAfterGc()
            .entrySet()
            .stream()
            .filter(pool -> heapPools.contains(pool.getKey()))
            .mapToLong(pool -> pool.getValue().getUsed())
            .sum();
    most.accumulateAndGet(left, Math::max);
  }
}
