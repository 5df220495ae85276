// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.progress;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all copies of this class in a JVM have in common. A JVM may hold our classes several times:
 * a Spark Connect server gives each session, and in Spark 3.5 each query, a class loader of its
 * own. The common values are in the JVM's registry of management beans, where all copies find them.
 * Values are of Java's own classes.
 */
public final class JvmWide {
  private static final Logger LOG = LoggerFactory.getLogger(JvmWide.class);
  private static final String NAME = "io.manifestcommitter:type=JvmWide";
  private static final String VALUES = "Values";
  private static final ConcurrentHashMap<String, Object> SHARED = find();

  private JvmWide() {}

  public interface Shared {
    Map<String, Object> getValues();
  }

  /**
   * The value of a name, the same for every caller in this JVM.
   *
   * @param ifNone makes it for the first one
   */
  @SuppressWarnings("unchecked")
  public static <T> T value(String name, Supplier<T> ifNone) {
    return (T) SHARED.computeIfAbsent(name, key -> ifNone.get());
  }

  @SuppressWarnings("unchecked")
  private static ConcurrentHashMap<String, Object> find() {
    ConcurrentHashMap<String, Object> own = new ConcurrentHashMap<>();
    try {
      MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
      ObjectName name = new ObjectName(NAME);
      try {
        beans.registerMBean(new StandardMBean((Shared) () -> own, Shared.class), name);
        return own;
      } catch (InstanceAlreadyExistsException e) {
        return (ConcurrentHashMap<String, Object>) beans.getAttribute(name, VALUES);
      }
    } catch (JMException | RuntimeException e) {
      LOG.debug("Commits of other class loaders are not seen", e);
      return own;
    }
  }
}
