// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.cli.CommandLine.Setting;
import io.manifestcommitter.info.Problem.Repair;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;

/**
 * Which setting decides on the committer factory of a path, by the rules of {@link
 * PathOutputCommitterFactory#getCommitterFactory}: one key for all schemes, then the key of the
 * literal scheme, then FileOutputCommitter. Loads no class.
 */
final class FactoryBinding {
  static final String FOR_ALL = PathOutputCommitterFactory.COMMITTER_FACTORY_CLASS;

  private static final String FILE_OUTPUT = FileOutputCommitterFactory.class.getName();

  /** The key that decides, or that would if it were set. */
  final String key;

  /** Its value; empty if no factory is bound. */
  final Optional<Setting> setting;

  /** The name of the factory's class, the default one if none is bound. */
  final String className;

  private FactoryBinding(String key, Optional<Setting> setting) {
    this.key = key;
    this.setting = setting;
    this.className = setting.map(set -> set.value).orElse(FILE_OUTPUT);
  }

  static FactoryBinding of(Configuration conf, Path path) {
    boolean isForAll = setting(conf, FOR_ALL).isPresent();
    String key = isForAll ? FOR_ALL : key(path.toUri().getScheme());
    return new FactoryBinding(key, setting(conf, key));
  }

  /** The key of a scheme. */
  static String key(String scheme) {
    return String.format(PathOutputCommitterFactory.COMMITTER_FACTORY_SCHEME_PATTERN, scheme);
  }

  /** A value that is not blank, with where it was set last. */
  static Optional<Setting> setting(Configuration conf, String key) {
    String value = conf.getTrimmed(key, "");
    if (value.isEmpty()) {
      return Optional.empty();
    }
    String[] sources = conf.getPropertySources(key);
    boolean known = sources != null && sources.length > 0;
    return Optional.of(
        new Setting(value, known ? sources[sources.length - 1] : "an unknown source"));
  }

  boolean isForAll() {
    return key.equals(FOR_ALL);
  }

  boolean isOurs() {
    return className.equals(ClassNames.FACTORY);
  }

  /** Whose it is, as {@code problems.json} names cases: ours, hadoop, other, or none at all. */
  String kind() {
    if (isOurs()) {
      return "ours";
    }
    if (ClassNames.HADOOPS_FACTORIES.contains(className)) {
      return "hadoop";
    }
    return className.equals(FILE_OUTPUT) ? "none" : "other";
  }

  /** The settings that bind another factory, for the one scheme only. */
  Repair bind(String scheme, String other) {
    Repair repair = scheme == null ? Repair.none() : Repair.set(key(scheme), other);
    return isForAll() ? repair.andSet(FOR_ALL, "") : repair;
  }
}
