// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What makes a problem go away. All that it names is to be done: settings under the names that they
 * have in Hadoop's configuration or in Spark's, a jar, another path.
 */
final class Repair {
  private final Map<String, Optional<String>> settings;
  private final String jar;
  private final String path;

  private Repair(Map<String, Optional<String>> settings, String jar, String path) {
    this.settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
    this.jar = jar;
    this.path = path;
  }

  /** For what no setting repairs; the problem's text says what to do. */
  static Repair none() {
    return new Repair(Map.of(), null, null);
  }

  static Repair set(String key, String value) {
    return none().andSet(key, value);
  }

  static Repair remove(String key) {
    return new Repair(Map.of(key, Optional.empty()), null, null);
  }

  /** Puts a jar on the class path: a file, or the coordinates of an artifact. */
  static Repair addJar(String jar) {
    return none().andJar(jar);
  }

  static Repair writeTo(String path) {
    return new Repair(Map.of(), null, Objects.requireNonNull(path));
  }

  Repair andSet(String key, String value) {
    Map<String, Optional<String>> more = new LinkedHashMap<>(settings);
    more.put(key, Optional.of(value));
    return new Repair(more, jar, path);
  }

  Repair andJar(String added) {
    return new Repair(settings, Objects.requireNonNull(added), path);
  }

  /** Keys with their new values; no value for a key that has to be removed. */
  Map<String, Optional<String>> settings() {
    return settings;
  }

  Optional<String> jar() {
    return Optional.ofNullable(jar);
  }

  Optional<String> path() {
    return Optional.ofNullable(path);
  }
}
