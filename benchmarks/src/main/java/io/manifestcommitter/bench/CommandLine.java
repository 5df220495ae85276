// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.util.Map;
import java.util.TreeMap;

/** Options of the form {@code --name value}. */
final class CommandLine {
  private final Map<String, String> values = new TreeMap<>();

  /**
   * Reads a command line.
   *
   * @param defaults every option there is, with its default
   * @throws IllegalArgumentException for an option that there is not, or one without a value
   */
  CommandLine(String[] args, Map<String, String> defaults) {
    values.putAll(defaults);
    for (int i = 0; i < args.length; i += 2) {
      String name = args[i].startsWith("--") ? args[i].substring(2) : "";
      if (!defaults.containsKey(name) || i + 1 == args.length) {
        throw new IllegalArgumentException(
            "'" + args[i] + "' is not an option with a value; there are " + defaults);
      }
      values.put(name, args[i + 1]);
    }
  }

  /** The value of an option. */
  String text(String name) {
    return values.get(name);
  }

  /** The value of an option that is a whole number from 1 on. */
  int count(String name) {
    int number = Integer.parseInt(text(name));
    if (number < 1) {
      throw new IllegalArgumentException("--" + name + " is " + number + ", not 1 or more");
    }
    return number;
  }
}
