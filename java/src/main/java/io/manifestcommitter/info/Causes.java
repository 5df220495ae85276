// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

/** Reads chains of exceptions. */
final class Causes {
  private Causes() {}

  /** The class that was not found, null if that was not the cause. */
  static String missingClass(Throwable failure) {
    for (Throwable e = failure; e != null; e = e.getCause()) {
      String message = String.valueOf(e.getMessage());
      if (e instanceof ClassNotFoundException) {
        // Hadoop's Configuration wraps the name into a sentence.
        return message.startsWith("Class ") && message.endsWith(" not found")
            ? message.substring("Class ".length(), message.length() - " not found".length())
            : message;
      }
      if (e instanceof NoClassDefFoundError && e.getCause() == null) {
        return message.replace('/', '.');
      }
    }
    return null;
  }

  /** What the innermost cause says. */
  static String message(Throwable failure) {
    Throwable e = failure;
    while (e.getCause() != null) {
      e = e.getCause();
    }
    return e.toString();
  }
}
