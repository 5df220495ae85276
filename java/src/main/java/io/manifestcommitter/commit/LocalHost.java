// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.commit;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** The machine that this process runs on, as reports and notes name it. */
public final class LocalHost {
  private LocalHost() {}

  /** Its name. */
  public static String name() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }
}
